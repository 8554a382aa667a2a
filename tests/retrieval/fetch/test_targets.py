"""Which addresses are asked for at all, by their text and by the IP addresses behind names."""

from ipaddress import ip_address

import pytest

from app.outgoing.addresses import parse_networks, refusal_of
from app.outgoing.errors import AddressRefused
from app.outgoing.targets import check_target

REFUSED = [
    *(
        "file:///etc/passwd",
        "ftp://example.org/",
        "javascript:alert(1)",
        "data:text/html,x",
        "gopher://example.org/",
        "//example.org/",
    ),
    *("http://user@example.org/", "http://user:pass@example.org/", "http://example.org:80@127.0.0.1/", "http://@example.org/"),
    *(
        "http://example.org:22/",
        "http://example.org:6379/",
        "http://example.org:0/",
        "http://example.org:99999/",
        "http://example.org:x/",
    ),
    *(
        "http://127.0.0.1/",
        "http://127.1/",
        "http://0x7f000001/",
        "http://2130706433/",
        "http://017700000001/",
        "http://0177.0.0.1/",
    ),
    *(
        "http://127.0.0.1./",
        "http://127.0.0.1../",
        "http://1.2.3.4.5/",
        "http://0x7f.1/",
        "http://１２７.0.0.1/",
        "http://127。0。0。1/",
    ),
    *(
        "http://localhost/",
        "http://localhost./",
        "http://a.localhost/",
        "http://metadata.google.internal/",
        "http://printer.local/",
    ),
    *(
        "http://intranet/",
        "http://exa mple.org/",
        "http://example.org\\@127.0.0.1/",
        "http://exam\tple.org/",
        "http:///x",
        "http://",
    ),
    *(
        "http://[::1]/",
        "http://[::]/",
        "http://[::ffff:127.0.0.1]/",
        "http://[::ffff:7f00:1]/",
        "http://[fe80::1]/",
        "http://[fd00::1]/",
    ),
    *(
        "http://[64:ff9b::7f00:1]/",
        "http://[2002:7f00:1::]/",
        "http://[2001:0:1::1]/",
        "http://[fe80::1%25eth0]/",
        "http://[::127.0.0.1]/",
    ),
    "http://example.org/" + "a" * 3_000,
]
TAKEN = {
    "http://example.org": "http://example.org",
    "https://example.org/a?b=c#d": "https://example.org/a?b=c",
    "HTTP://EXAMPLE.org:8080/": "http://example.org:8080/",
    "https://bücher.example/ü": "https://xn--bcher-kva.example/%C3%BC",
    "https://zh.wikipedia.org/wiki/关税": "https://zh.wikipedia.org/wiki/%E5%85%B3%E7%A8%8E",
    "http://93.184.215.14/": "http://93.184.215.14/",
    "http://[2606:4700::6810:84e5]/": "http://[2606:4700::6810:84e5]/",
}


@pytest.mark.parametrize("text", REFUSED)
def test_refused(text: str) -> None:
    with pytest.raises(AddressRefused):
        check_target(text)


@pytest.mark.parametrize("text", TAKEN)
def test_taken(text: str) -> None:
    assert str(check_target(text)) == TAKEN[text]


@pytest.mark.parametrize(
    "text",
    [
        *("0.0.0.0", "10.1.2.3", "100.64.0.1", "100.100.100.200", "127.255.255.254", "169.254.169.254", "172.31.255.255"),
        *("192.0.0.192", "192.0.2.1", "192.88.99.1", "192.168.1.1", "198.19.0.1", "203.0.113.9", "224.0.0.1", "255.255.255.255"),
        *("::", "::1", "::ffff:8.8.8.8", "::8.8.8.8", "64:ff9b::808:808", "64:ff9b:1::1", "100::1", "2001::1", "2001:db8::1"),
        *("2002:808:808::", "fc00::1", "fd00:ec2::254", "fe80::1", "fec0::1", "ff02::1", "2606:4700::5efe:a00:1", "5f00::1"),
    ],
)
def test_addresses_that_are_not_public(text: str) -> None:
    assert refusal_of(ip_address(text))


def test_public_addresses_and_permitted_networks() -> None:
    for text in ("8.8.8.8", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "2a00:1450::1"):
        assert not refusal_of(ip_address(text)), text
    assert not refusal_of(ip_address("10.1.2.3"), parse_networks("10.1.0.0/16"))
    assert refusal_of(ip_address("10.2.2.3"), parse_networks("10.1.0.0/16"))
