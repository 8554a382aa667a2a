"""`python -m bench.browse_safety`: count whom `browse` connects to when it is sent to hostile addresses.

Listeners on several loopback addresses count connections; one of them stands for the public internet. An audit hook also counts
every connection that this process begins, to any address. Ordinary pages must be read as well, or refusing everything would
pass. With `--proxy` all goes through a proxy that the operator names, and that looks names up for itself.
"""

import argparse
import asyncio
import os
import sys
from dataclasses import dataclass, field
from datetime import timedelta

from app.domain.errors import ToolError
from app.outgoing.addresses import parse_networks
from bench.forward_proxy import ForwardProxy
from bench.hostile_addresses import PUBLIC, REBINDING, SECRET, list_direct, list_redirects
from bench.result import print_result
from bench.web_listeners import ConnectionCounter, Listener, PageReply, ScriptedNames, compress_page, make_page, make_redirect
from retrieval.fetch.fetching import FetchPolicy
from retrieval.fetch.limits import FetchLimits
from retrieval.fetch.web_reader import WebReader

WORDS = "Ordinary words that an ordinary page says to whoever reads it, in an ordinary paragraph. " * 3
FORBIDDEN = ("127.0.0.1", SECRET, "127.0.0.4", "::1")
STOLEN = PageReply(make_page("These words stand on a page that nobody outside may read. " * 5))
PROXY = "127.0.0.5"
NAMES = {"site.example.org": [[PUBLIC]], "xn--bcher-kva.example": [[PUBLIC]], "two.example.org": [[PUBLIC, PUBLIC]]}
PERMITTED = parse_networks(f"{PUBLIC}/32")
ATTEMPTS = 3
LIMITS = FetchLimits(total=timedelta(seconds=5), connect=timedelta(seconds=2))
PROXIES = ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")


@dataclass
class Tally:
    """Counts of cases, and messages about those that went wrong."""

    cases: int = 0
    read: list[str] = field(default_factory=list)
    benign: int = 0
    failed: list[str] = field(default_factory=list)


async def measure(connects: ConnectionCounter, by_proxy: bool) -> dict[str, float]:
    """Run every case; return the figures."""
    proxy = ForwardProxy(ScriptedNames({**REBINDING, **NAMES}), PERMITTED)
    address = await proxy.start(PROXY) if by_proxy else None
    public, forbidden = Listener(_make_pages()), [Listener({"/": STOLEN, "/page": STOLEN}) for _ in FORBIDDEN]
    port = await public.start(PUBLIC, 0)
    for host, listener in zip(FORBIDDEN, forbidden, strict=True):
        await listener.start(host, port)
    for name in PROXIES:
        os.environ[name] = f"http://{SECRET}:{port}"
    tally = Tally()
    await _try_hostile(tally, public, port, address)
    await _try_benign(tally, port, address)
    await proxy.stop()
    for listener in (public, *forbidden):
        await listener.stop()
    begun = sum(count for (host, at), count in connects.to.items() if host != PROXY and (host, at) != (PUBLIC, port))
    for message in (*tally.read, *tally.failed):
        print(message)
    return {
        "cases": tally.cases,
        "connections": sum(listener.connections for listener in forbidden) + begun,
        "hostile_read": len(tally.read),
        "benign": tally.benign,
        "benign_failed": len(tally.failed),
        "by_proxy": len(proxy.asked),
        "refused_by_proxy": len(proxy.refused),
    }


def _make_pages() -> dict[str, PageReply]:
    ordinary = PageReply(make_page(WORDS))
    chinese = make_page("普通的网页，普通的文字，任何人都可以阅读。" * 5).decode().encode("gb18030")
    return {
        "/plain": ordinary,
        "/page": ordinary,
        "/text": PageReply(WORDS.encode(), "text/plain"),
        "/chinese": PageReply(chinese, "text/html; charset=gb2312"),
        "/moved": make_redirect("/plain", 301),
        "/moved-twice": make_redirect("moved", 307),
        "/untyped": PageReply(make_page(WORDS), "application/octet-stream"),
        "/refresh": PageReply(make_page(WORDS), headers=[("Refresh", f"0; url=http://{SECRET}/")]),
        "/link": PageReply(make_page(f'<img src="http://{SECRET}/x"><link rel=preload href="http://{SECRET}/">{WORDS}')),
        **{
            f"/{coding.replace(' ', '-')}": compress_page(make_page(WORDS), coding)
            for coding in ("gzip", "deflate", "raw deflate", "br")
        },
    }


def _make_reader(port: int, proxy: str | None) -> WebReader:
    scripted = ScriptedNames({**REBINDING, **NAMES})
    return WebReader(FetchPolicy(limits=LIMITS, ports=frozenset({port}), permitted=PERMITTED, lookup=scripted, proxy=proxy))


async def _try_hostile(tally: Tally, public: Listener, port: int, proxy: str | None) -> None:
    async with _make_reader(port, proxy) as reader:
        for url in list_direct(port):
            await _expect_refusal(tally, reader, url)
    for onward in list_redirects(port):
        public.replies |= {
            "/go": make_redirect("/on"),
            "/on": make_redirect(onward),
            "/again": make_redirect("/on"),
            "/robots.txt": make_redirect(onward),
        }
        async with _make_reader(port, proxy) as reader:  # a new reader asks for robots.txt again, which redirects too
            await _expect_refusal(tally, reader, f"http://site.example.org:{port}/go")
    del public.replies["/robots.txt"]


async def _expect_refusal(tally: Tally, reader: WebReader, url: str) -> None:
    """Ask for a hostile address, several times where its name changes later. A page of the public host may be read."""
    tally.cases += 1
    for _ in range(ATTEMPTS if "turns-" in url else 1):
        try:
            found = await reader.read(url)
        except ToolError:
            continue
        if "turns-" not in url or "nobody outside" in found.text:
            tally.read.append(f"read, though hostile: {url!r}")


async def _try_benign(tally: Tally, port: int, proxy: str | None) -> None:
    hosts = ("site.example.org", "SITE.Example.org", "two.example.org", "bücher.example", PUBLIC)
    urls = [f"http://site.example.org:{port}{path}" for path in _make_pages()] + [f"http://{host}:{port}/plain" for host in hosts]
    async with _make_reader(port, proxy) as reader:
        for url in (*urls, f"HTTP://site.example.org:{port}/plain#part", f"http://site.example.org:{port}/./x/../plain"):
            tally.benign += 1
            try:
                await reader.read(url)
            except ToolError as error:
                tally.failed.append(f"not read, though ordinary: {url!r}: {error}")


def main() -> int:
    """Measure; return 1 when a refused address was connected to, a hostile page read, or an ordinary one not read."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--proxy", action="store_true", help="read all pages through a proxy that refuses what leads inside")
    by_proxy = parser.parse_args().proxy
    connects = ConnectionCounter()
    sys.addaudithook(connects)
    figures = asyncio.run(measure(connects, by_proxy))
    print_result("browse_safety_by_proxy" if by_proxy else "browse_safety", figures)
    return int(any(figures[name] for name in ("connections", "hostile_read", "benign_failed")))


if __name__ == "__main__":
    sys.exit(main())
