"""A page that its scripts write, in a real Chromium; skipped where there is none."""

from functools import partial
from pathlib import Path

import pytest

from bench.web_listeners import PageReply
from infra.extras import find_browser
from retrieval.fetch.web_reader import WebReader
from tests.retrieval.fetch.small_web import SECRET, serve_small_web

pytest.importorskip("playwright.async_api", reason="playwright is not installed: `make extras`")
CHROMIUM = find_browser()
pytestmark = [pytest.mark.slow, pytest.mark.extra("Chromium", "playwright")]
WORDS = "These words are written by a script that asks the site for them and shows them to whoever waits. " * 3
PAGE = """<html><head><title>Scripted</title></head><body><div id="a"></div><script src="/words.js"></script>
<img src="http://{secret}/x.png"><script src="http://{secret}/x.js"></script>
<script>fetch("http://{secret}/x").catch(() => 0); new WebSocket("ws://{secret}/ws");
navigator.sendBeacon("http://{secret}/b", "x");</script></body></html>"""


async def test_scripts_run_and_reach_nothing_that_is_refused() -> None:
    from retrieval.fetch.browser import PageRenderer

    script = f"document.getElementById('a').innerHTML = '<article><p>{WORDS}</p></article>'"
    async with serve_small_web({"/words.js": PageReply(script.encode(), "text/javascript")}) as web:
        web.public.replies["/a"] = PageReply(PAGE.replace("{secret}", f"{SECRET}:{web.port}").encode())
        async with WebReader(web.policy, partial(PageRenderer, Path(CHROMIUM or ""))) as reader:
            found = await reader.read(web.make_url("/a"))
    assert WORDS.strip() in found.text
    assert web.secret.connections == 0
