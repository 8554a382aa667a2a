"""The page in a real browser. Needs `pip install playwright` and a Chromium on the machine; skipped where they are missing."""

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.ui.fake_api import FakeApi
from tests.ui.stories import QUOTE, finished, searching

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
sync_api.expect.set_options(timeout=30_000)
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
ROOT = Path(__file__).parents[2]

pytestmark = [pytest.mark.slow, pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")]


@contextmanager
def page_server(api_url: str) -> Iterator[str]:
    """The real page on a free port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    options = ["--server.headless=true", "--server.address=127.0.0.1", f"--server.port={port}"]
    process = subprocess.Popen(
        [sys.executable, "-m", "streamlit", "run", str(ROOT / "ui" / "server.py"), *options],
        env=os.environ | {"RUBRICA_API_URL": api_url, "RUBRICA_API_KEY": "rbk_local", "PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        _wait_for(f"http://127.0.0.1:{port}/_stcore/health")
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(10)


def _wait_for(url: str) -> None:
    deadline = time.monotonic() + 30
    while True:
        try:
            urllib.request.urlopen(url, timeout=1).close()
        except OSError:
            assert time.monotonic() < deadline, f"{url} does not answer"
            time.sleep(0.1)
        else:
            return


def test_a_shared_link_opens_and_a_citation_shows_its_quote(api: FakeApi) -> None:
    """The link to a report is the first request the server gets, as after a restart."""
    run = finished(api)
    with page_server(api.url) as url, sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page()
        page.goto(f"{url}/read?run={run.id}")
        page.wait_for_selector("#r-card", state="attached")  # the listener has come
        number = page.locator("article .r-cite >> nth=0")
        number.focus()
        sync_api.expect(page.get_by_role("tooltip")).to_contain_text(QUOTE)
        number.press("Enter")
        drawer = page.get_by_role("dialog")
        sync_api.expect(drawer.locator("mark")).to_have_text(QUOTE)
        page.reload()
        sync_api.expect(drawer.locator("mark")).to_have_text(QUOTE)
        page.keyboard.press("Escape")
        sync_api.expect(drawer).to_have_count(0)
        page.wait_for_url(lambda address: "cite=" not in address)
        browser.close()


def test_progress_appears_without_a_reload(api: FakeApi) -> None:
    run = searching(api)
    with page_server(api.url) as url, sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page()
        page.goto(f"{url}/watch?run={run.id}")
        sync_api.expect(page.locator(".r-step.waiting")).to_have_count(2)
        page.get_by_role("tab", name="Log").click()
        run.emit("stage_started", {"stage": "search/s3", "title": ""}, "search/s3")
        sync_api.expect(page.locator(".r-step.waiting")).to_have_count(1)
        sync_api.expect(page.locator(".r-log")).to_be_visible()
        run.emit("status_changed", {"status": "completed", "detail": ""})
        sync_api.expect(page.get_by_text("Read the report")).to_be_visible()
        browser.close()
