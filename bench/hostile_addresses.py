"""Addresses that lead where nobody may be sent, grouped by the trick they use. `{port}` is the port of all listeners."""

from collections.abc import Iterator, Mapping, Sequence

PUBLIC, SECRET = "127.0.0.2", "127.0.0.3"
"""The host that stands for the public internet, and one that nobody may reach. Both are this machine."""

SCHEMES = (
    "file:///etc/passwd",
    "file://127.0.0.3/",
    "ftp://127.0.0.3:{port}/",
    "gopher://127.0.0.3:{port}/_x",
    "dict://127.0.0.3:{port}/x",
    "ldap://127.0.0.3:{port}/",
    "ws://127.0.0.3:{port}/",
    "javascript:fetch('http://127.0.0.3:{port}')",
    "data:text/html,x",
    "jar:http://127.0.0.3:{port}!/",
    "view-source:http://127.0.0.3:{port}/",
    "//127.0.0.3:{port}/",
    "127.0.0.3:{port}/",
    "unix:/x",
)
PLAIN_V4 = (
    "127.0.0.1",
    "127.0.0.3",
    "127.255.255.254",
    "0.0.0.0",
    "0.1.2.3",
    "10.0.0.1",
    "100.64.0.1",
    "100.100.100.200",
    "168.63.129.16",
    "169.254.169.254",
    "169.254.170.2",
    "172.16.0.1",
    "172.31.255.254",
    "192.0.0.192",
    "192.0.2.1",
    "192.88.99.1",
    "192.168.0.1",
    "198.18.0.1",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "239.255.255.250",
    "240.0.0.1",
    "255.255.255.255",
)
DISGUISED_V4 = (
    "127.1",
    "127.0.3",
    "0",
    "0x7f.0.0.3",
    "0x7f000003",
    "0X7F.0X0.0X0.0X3",
    "2130706435",
    "017700000003",
    "0177.0.0.03",
    "127.0.0.3.",
    "127.0.0.3..",
    "0127.0.0.3",
    "127.000.000.003",
    "127.0.0.0x3",
    "425.510.425.510",
    "127.0.0.3%00.example.org",
    "１２７.0.0.3",
    "127。0。0。3",
    "127．0．0．3",
    "①②⑦.⓪.⓪.③",
    "%31%32%37.0.0.3",
    "127.0.0.3%2eexample.org",
    "127.0.0\u00ad.3",
    "127.0.0.\u200b3",
    "0x7f.1",
    "3232235521",
    "169.254.43518",
    "0xA9FEA9FE",
    "2852039166",
    "0251.0376.0251.0376",
)
PLAIN_V6 = (
    "[::1]",
    "[::]",
    "[0:0:0:0:0:0:0:1]",
    "[::ffff:127.0.0.3]",
    "[::ffff:7f00:3]",
    "[::127.0.0.3]",
    "[::ffff:0:127.0.0.3]",
    "[fe80::1]",
    "[fe80::1%25lo]",
    "[fc00::1]",
    "[fd00:ec2::254]",
    "[fec0::1]",
    "[ff02::1]",
    "[ff0e::1]",
    "[100::1]",
    "[64:ff9b::7f00:3]",
    "[64:ff9b::169.254.169.254]",
    "[64:ff9b:1::7f00:3]",
    "[2002:7f00:3::1]",
    "[2002:a9fe:a9fe::]",
    "[2001::7f00:3]",
    "[2001:0:4136:e378:8000:63bf:80ff:fffc]",
    "[2001:db8::1]",
    "[2606:4700::5efe:7f00:3]",
    "[5f00::1]",
)
LOCAL_NAMES = (
    "localhost",
    "LOCALHOST",
    "localhost.",
    "a.localhost",
    "ⓛⓞⓒⓐⓛⓗⓞⓢⓣ",
    "localhost.localdomain",
    "ip6-localhost",
    "intranet",
    "metadata.google.internal",
    "instance-data",
    "printer.local",
    "router.home.arpa",
    "vault.corp",
    "db.lan",
    "kubernetes",
)
CONFUSED = (
    "http://site.example.org@127.0.0.3:{port}/",
    "http://user:pass@127.0.0.3:{port}/",
    "http://127.0.0.3:{port}@site.example.org:{port}/",
    "http://site.example.org:{port}\\@127.0.0.3:{port}/",
    "http://127.0.0.3:{port}\\.example.org/",
    "http:\\\\127.0.0.3:{port}\\",
    "http://site.example.org\t@127.0.0.3:{port}/",
    "http://127.0.0.3:{port}\r\nHost: site.example.org/",
    "http:///127.0.0.3:{port}/",
    "http:127.0.0.3:{port}/",
    "http://[127.0.0.3]:{port}/",
    "http://127.0.0.3:{port}#@site.example.org/",
    "http://127.0.0.3:{port}?@x.org/",
    "http://127.0.0.3 :{port}/",
    "http://site.example.org:{port} @127.0.0.3:{port}/",
    "http://[::1]@site.example.org:{port}/",
)
PORTS = tuple(
    f"http://site.example.org:{port}/" for port in (0, 1, 22, 25, 53, 2375, 3306, 5432, 6379, 9200, 11211, 65535, 65536, -1)
)

REBINDING: Mapping[str, Sequence[Sequence[str]]] = {
    "secret.example.org": [[SECRET]],
    "loop.example.org": [["127.0.0.1"]],
    "six.example.org": [["::1"]],
    "mapped.example.org": [["::ffff:127.0.0.3"]],
    "zero.example.org": [["0.0.0.0"]],
    "private.example.org": [["10.1.2.3"]],
    "metadata.example.org": [["169.254.169.254"]],
    "metadata6.example.org": [["fd00:ec2::254"]],
    "carrier.example.org": [["100.64.9.9"]],
    "nat64.example.org": [["64:ff9b::7f00:3"]],
    "sixtofour.example.org": [["2002:7f00:3::1"]],
    "both.example.org": [[PUBLIC, SECRET]],
    "both-reversed.example.org": [[SECRET, PUBLIC]],
    "both-families.example.org": [[PUBLIC, "::1"]],
    "turns-at-once.example.org": [[PUBLIC], [SECRET]],
    "turns-later.example.org": [[PUBLIC], [PUBLIC], [SECRET]],
    "turns-to-loop.example.org": [[PUBLIC], ["127.0.0.1"]],
    "turns-to-six.example.org": [[PUBLIC], ["::1"]],
    "turns-to-metadata.example.org": [[PUBLIC], ["169.254.169.254"]],
    "turns-mixed.example.org": [[PUBLIC], [PUBLIC, SECRET]],
    "turns-back.example.org": [[SECRET], [PUBLIC], [SECRET]],
}
REDIRECTS = (
    "http://127.0.0.3:{port}/",
    "//127.0.0.3:{port}/",
    "http://127.1:{port}/",
    "http://0x7f000003:{port}/",
    "http://[::1]:{port}/",
    "http://[::ffff:127.0.0.3]:{port}/",
    "http://secret.example.org:{port}/",
    "http://turns-at-once.example.org:{port}/x",
    "http://both.example.org:{port}/",
    "file:///etc/passwd",
    "gopher://127.0.0.3:{port}/",
    "http://169.254.169.254/latest/meta-data/",
    "http://user@127.0.0.3:{port}/",
    "http://localhost:{port}/",
    "http://2130706435:{port}/",
    "http://127.0.0.3.:{port}/",
    "/again",
    "//site.example.org@127.0.0.3:{port}/",
    "\\\\127.0.0.3:{port}/",
    "http://site.example.org:6379/",
)


def list_direct(port: int) -> Iterator[str]:
    """Yield every hostile address that is asked for as it is."""
    yield from (text.format(port=port) for text in (*SCHEMES, *CONFUSED))
    yield from PORTS
    for host in (*PLAIN_V4, *DISGUISED_V4, *PLAIN_V6, *LOCAL_NAMES):
        yield f"http://{host}:{port}/"
    for name in REBINDING:
        yield f"http://{name}:{port}/page"


def list_redirects(port: int) -> Iterator[str]:
    """Yield the addresses to which a public page redirects its reader."""
    yield from (text.format(port=port) for text in REDIRECTS)
