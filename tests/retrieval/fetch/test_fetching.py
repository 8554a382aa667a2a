"""Pages from real local servers: what is read, what is refused, and who was connected to."""

import gzip
import socket
import ssl
import subprocess
from contextlib import nullcontext
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from app.domain.errors import ToolError, ToolUnavailable
from app.domain.evidence import snapshot_hash
from app.outgoing.errors import AddressRefused, PageUnavailable
from app.outgoing.guard import guarded_connector
from bench.web_listeners import ROBOTS, PageReply, ScriptedNames, compress_page, make_page, make_redirect
from retrieval.fetch.errors import DisallowedByRobots, PageRefused
from retrieval.fetch.fetching import Fetcher
from retrieval.fetch.limits import FetchLimits
from retrieval.fetch.robots import Robots
from tests.retrieval.fetch.small_web import PUBLIC, SECRET, serve_small_web

WORDS = "The tariff of 1890 raised the duties on wool and on tinplate, and it fell to farmers to pay for them. " * 3
PAGE = PageReply(make_page(WORDS, "The tariff of 1890"))


async def test_a_page_becomes_a_document() -> None:
    async with serve_small_web({"/a": PAGE}) as web, web.make_reader() as reader:
        found = await reader.read(web.make_url("/a#part"))
    assert WORDS.strip() in found.text
    assert found.source.url == web.make_url("/a")
    assert found.source.title == "The tariff of 1890"
    assert found.source.kind == "web page"
    assert found.source.snapshot == snapshot_hash(found.text)


async def test_what_is_sent_says_who_asks_and_nothing_else() -> None:
    async with (
        serve_small_web({"/a": PageReply(PAGE.body, headers=[("Set-Cookie", "id=1; Path=/")])}) as web,
        web.make_reader() as reader,
    ):
        await reader.read(web.make_url("/a"))
        await reader.read(web.make_url("/a"))
    sent = web.public.asked[-1].headers
    assert sent["user-agent"].startswith("rubricabot/")
    assert sent["host"] == f"site.example.org:{web.port}"
    assert not {"cookie", "authorization", "referer", "proxy-authorization"} & set(sent)


async def test_proxies_of_the_environment_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    async with serve_small_web({"/a": PAGE}) as web, web.make_reader() as reader:
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, f"http://{SECRET}:{web.port}")
        await reader.read(web.make_url("/a"))
    assert web.secret.connections == 0


@pytest.mark.parametrize("coding", ["gzip", "deflate", "raw deflate", "br"])
async def test_packed_pages_are_unpacked(coding: str) -> None:
    async with serve_small_web({"/a": compress_page(PAGE.body, coding)}) as web, web.make_reader() as reader:
        assert WORDS.strip() in (await reader.read(web.make_url("/a"))).text


@pytest.mark.parametrize("coding", ["gzip", "deflate", "raw deflate", "br"])
async def test_a_bomb_stops_at_the_limit(coding: str) -> None:
    bomb = compress_page(b"<p>" + b"a" * (8 << 20), coding)
    assert len(bomb.body) < 100_000
    async with serve_small_web({"/a": bomb}) as web, web.make_reader(FetchLimits(unpacked=1 << 20)) as reader:
        with pytest.raises(PageRefused, match="too large"):
            await reader.read(web.make_url("/a"))


async def test_a_bomb_inside_a_bomb_and_towers_of_codings() -> None:
    twice = gzip.compress(gzip.compress(b"<p>" + b"a" * (8 << 20)))
    replies = {
        "/twice": PageReply(twice, headers=[("Content-Encoding", "gzip, gzip")]),
        "/tower": PageReply(twice, headers=[("Content-Encoding", "gzip, gzip, gzip")]),
        "/cut": PageReply(gzip.compress(PAGE.body)[:-9], headers=[("Content-Encoding", "gzip")]),
        "/odd": PageReply(PAGE.body, headers=[("Content-Encoding", "zstd")]),
    }
    async with serve_small_web(replies) as web, web.make_reader(FetchLimits(unpacked=1 << 20)) as reader:
        for path in replies:
            with pytest.raises(PageRefused):
                await reader.read(web.make_url(path))


async def test_too_much_is_refused_whether_announced_or_not() -> None:
    big = b"<p>" + b"a " * (1 << 20)
    replies = {"/announced": PageReply(big), "/endless": PageReply(big, headers=[("Transfer-Encoding", "identity")])}
    async with serve_small_web(replies) as web, web.make_reader(FetchLimits(sent=1 << 20)) as reader:
        for path in replies:
            with pytest.raises(ToolError):
                await reader.read(web.make_url(path))


async def test_kinds_that_are_not_read() -> None:
    replies = {f"/{i}": PageReply(b"GIF89a", kind) for i, kind in enumerate(("image/gif", "video/mp4", "application/zip"))}
    async with serve_small_web(replies) as web, web.make_reader() as reader:
        for path in replies:
            with pytest.raises(PageRefused, match="kind"):
                await reader.read(web.make_url(path))


async def test_redirects_are_followed_and_counted() -> None:
    replies = {"/a": make_redirect("/b", 301), "/b": make_redirect("//other.example.org:{port}/c", 307), "/c": PAGE}
    replies |= {f"/{i}": make_redirect(f"/{i + 1}") for i in range(9)}
    async with serve_small_web(replies) as web, web.make_reader() as reader:
        web.public.replies["/b"] = make_redirect(f"//other.example.org:{web.port}/c", 307)
        assert (await reader.read(web.make_url("/a"))).source.url == web.make_url("/c", "other.example.org")
        with pytest.raises(PageRefused, match="too many times"):
            await reader.read(web.make_url("/0"))


async def test_a_redirect_to_a_refused_address_is_not_followed() -> None:
    async with serve_small_web() as web, web.make_reader() as reader:
        for onward in (
            f"http://{SECRET}:{web.port}/",
            web.make_url("/", "inside.example.org"),
            "file:///etc/passwd",
            "gopher://x/1",
        ):
            web.public.replies["/a"] = make_redirect(onward)
            with pytest.raises(AddressRefused):
                await reader.read(web.make_url("/a"))
    assert web.secret.connections == 0


async def test_a_name_that_changes_its_address_after_the_check() -> None:
    """The site's robots.txt comes from a public address; by the time of the page the name leads inside."""
    names = {"site.example.org": [[PUBLIC], [SECRET]]}
    async with serve_small_web({"/a": PAGE}, names) as web, web.make_reader() as reader:
        with pytest.raises(AddressRefused):
            await reader.read(web.make_url("/a"))
    assert web.names.looked_up["site.example.org"] == 2
    assert web.secret.connections == 0


async def test_one_refused_address_among_several_refuses_the_name() -> None:
    async with serve_small_web({"/a": PAGE}, {"site.example.org": [[PUBLIC, SECRET]]}) as web, web.make_reader() as reader:
        with pytest.raises(AddressRefused):
            await reader.read(web.make_url("/a"))
    assert web.secret.connections == 0


async def test_a_socket_is_made_only_for_a_checked_address() -> None:
    """Behind the resolver stands a second check: nothing that got past it gets a socket."""
    connector = guarded_connector(ScriptedNames({}), ())
    assert connector._socket_factory is not None
    with pytest.raises(AddressRefused):
        connector._socket_factory((socket.AF_INET, socket.SOCK_STREAM, 6, "", (SECRET, 80)))
    await connector.close()


async def test_a_slow_server_is_given_up() -> None:
    async with serve_small_web({"/a": PageReply(PAGE.body, headers=[("Content-Length", "99999")])}) as web:
        limits = FetchLimits(total=timedelta(seconds=0.5))
        async with web.make_reader(limits) as reader:
            web.public.replies[ROBOTS] = PageReply(b"", "text/plain")
            with pytest.raises(PageUnavailable):
                await reader.read(web.make_url("/a"))


async def test_a_busy_server_may_be_asked_again_when_it_says() -> None:
    hour = timedelta(hours=1)
    wishes = {"7": timedelta(seconds=7), "86400": hour, "9" * 30: hour, "1200000 or so": None, "-1": None, "²²²²²²²": None}
    replies = {f"/{n}": PageReply(status=503, headers=[("Retry-After", said)]) for n, said in enumerate(wishes)}
    async with serve_small_web(replies) as web, web.make_reader() as reader:
        for path, wish in zip(replies, wishes.values(), strict=True):
            with pytest.raises(ToolUnavailable) as busy:
                await reader.read(web.make_url(path))
            assert busy.value.retry_after == wish


async def test_a_name_without_an_address_is_unavailable() -> None:
    async with serve_small_web() as web, web.make_reader() as reader:
        with pytest.raises(PageUnavailable):
            await reader.read(web.make_url("/a", "gone.example.org"))


async def test_robots_are_asked_once_and_obeyed() -> None:
    rules = PageReply(b"User-agent: *\nDisallow: /private\nAllow: /private/open$\n\nUser-agent: test\nDisallow: /", "text/plain")
    replies = {ROBOTS: rules, "/a": PAGE, "/private/x": PAGE, "/private/open": PAGE}
    async with serve_small_web(replies) as web, web.make_reader() as reader:
        await reader.read(web.make_url("/a"))
        await reader.read(web.make_url("/private/open"))
        with pytest.raises(DisallowedByRobots):
            await reader.read(web.make_url("/private/x"))
    assert [asked.path for asked in web.public.asked].count(ROBOTS) == 1
    assert "/private/x" not in [asked.path for asked in web.public.asked]


async def test_rules_for_this_reader_by_name_stand_above_those_for_all() -> None:
    rules = b"User-agent: RubricaBot\nDisallow: /private\n\nUser-agent: *\nDisallow: /a"
    replies = {ROBOTS: PageReply(rules, "text/plain"), "/a": PAGE, "/private": PAGE}
    async with serve_small_web(replies) as web, web.make_reader() as reader:
        await reader.read(web.make_url("/a"))
        with pytest.raises(DisallowedByRobots):
            await reader.read(web.make_url("/private"))


@pytest.mark.parametrize(("status", "allowed"), [(404, True), (403, True), (410, True), (500, False), (503, False), (429, False)])
async def test_robots_that_cannot_be_read(status: int, allowed: bool) -> None:
    async with serve_small_web({ROBOTS: PageReply(status=status), "/a": PAGE}) as web, web.make_reader() as reader:
        if allowed:
            await reader.read(web.make_url("/a"))
        else:
            with pytest.raises(PageUnavailable, match="robots"):
                await reader.read(web.make_url("/a"))


async def test_robots_are_asked_again_the_next_day() -> None:
    now = [0.0]
    async with serve_small_web({"/a": PAGE}) as web, web.make_reader() as reader:
        reader.robots = Robots(reader.fetcher, lambda: now[0])
        await reader.read(web.make_url("/a"))
        web.public.replies[ROBOTS] = PageReply(b"User-agent: *\nDisallow: /", "text/plain")
        now[0] = 24 * 3600 - 1
        await reader.read(web.make_url("/a"))
        now[0] = 24 * 3600
        with pytest.raises(DisallowedByRobots):
            await reader.read(web.make_url("/a"))
    assert [asked.path for asked in web.public.asked].count(ROBOTS) == 2


async def test_robots_of_a_site_that_was_down_are_asked_again_after_two_minutes() -> None:
    now = [0.0]
    async with serve_small_web({ROBOTS: PageReply(status=503), "/a": PAGE}) as web, web.make_reader() as reader:
        reader.robots = Robots(reader.fetcher, lambda: now[0])
        for now[0] in (0.0, 119.0):
            with pytest.raises(PageUnavailable, match="robots"):
                await reader.read(web.make_url("/a"))
        web.public.replies[ROBOTS] = PageReply(status=404)
        now[0] = 120.0
        assert WORDS.strip() in (await reader.read(web.make_url("/a"))).text
    assert [asked.path for asked in web.public.asked].count(ROBOTS) == 2


@pytest.mark.parametrize(("redirects", "obeyed"), [(5, True), (6, False)])
async def test_robots_are_followed_through_five_redirects(redirects: int, obeyed: bool) -> None:
    rules = PageReply(b"User-agent: *\nDisallow: /", "text/plain")
    async with serve_small_web({"/a": PAGE, f"/robots{redirects}": rules}) as web, web.make_reader() as reader:
        for hop in range(redirects):
            web.public.replies[f"/robots{hop}" if hop else ROBOTS] = make_redirect(web.make_url(f"/robots{hop + 1}"))
        with pytest.raises(DisallowedByRobots) if obeyed else nullcontext():
            await reader.read(web.make_url("/a"))


async def test_robots_that_lead_inside_count_as_missing() -> None:
    async with serve_small_web({"/a": PAGE}) as web, web.make_reader() as reader:
        web.public.replies[ROBOTS] = make_redirect(f"http://{SECRET}:{web.port}/robots.txt")
        await reader.read(web.make_url("/a"))
    assert web.secret.connections == 0


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A certificate of site.example.org, and its key."""
    folder = tmp_path_factory.mktemp("tls")
    key, certificate = folder / "key.pem", folder / "cert.pem"
    names = ["-subj", "/CN=site.example.org", "-addext", "subjectAltName=DNS:site.example.org"]
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
    subprocess.run([*command, *names, "-keyout", str(key), "-out", str(certificate)], check=True, capture_output=True)
    return certificate, key


async def test_https_checks_the_name_that_was_asked_for(certificates: tuple[Path, Path]) -> None:
    server, client = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH), ssl.create_default_context(cafile=str(certificates[0]))
    server.load_cert_chain(*certificates)
    async with serve_small_web({"/a": PAGE, "/down": make_redirect("http://site.example.org/")}, tls=(server, client)) as web:
        web.public.replies["/down"] = make_redirect(web.make_url("/a"))
        async with web.make_reader() as reader:
            secure = web.make_url("/a").replace("http:", "https:")
            assert WORDS.strip() in (await reader.read(secure)).text
            assert set(web.public.names) == {"site.example.org"}
            with pytest.raises(AddressRefused, match="from https to http"):
                await reader.read(secure.replace("/a", "/down"))
            with pytest.raises(PageUnavailable):
                await reader.read(secure.replace("site.", "other."))
        async with Fetcher(replace(web.policy, tls=None)) as fetcher:
            with pytest.raises(PageUnavailable):  # nobody the system trusts has signed this certificate
                await fetcher.fetch_once(fetcher.check_target(secure))
