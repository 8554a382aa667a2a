"""`python -m tests.ui.take_pictures FOLDER`: take the pictures of docs/page.md.

They are of a real stack without a model, except that of several systems, whose model is the tests' stand-in. A font with Chinese
characters must be there.
"""

import argparse
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING

from tests.support.model_stub import MODEL
from tests.ui.page_steps import ask_further_systems, judge_side_by_side, write_second_report
from tests.ui.real_page import CHROMIUM, LIMIT_MS
from tests.ui.whole_stack import run_whole_stack, serve_stub_in_thread

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

QUESTION = "How did presidents justify tariffs before 1900?"
SIZE = {"width": 1280, "height": 820}
SETTLED_MS = 1_500


def take_pictures(address: str, folder: Path) -> None:
    """Ask, approve, watch, read, and open what can be opened."""
    with _open_browser() as browser:
        page = _open_page(browser, address, "light", "en-GB")
        _ask(page, folder)
        _read(page, folder)
        shown = page.url.partition("&")[0]  # without the citation that was opened
        _take(_open_page(browser, shown, "light", "zh-CN"), folder, "page-read-zh")
        _take(_open_page(browser, shown.replace("/read?", "/watch?"), "dark", "en-GB"), folder, "page-watch-dark")
        write_second_report(page)
        page.get_by_role("radiogroup").filter(has_text="Both are bad").wait_for()
        _take(page, folder, "page-compare")
        _follow_messages(_open_page(browser, f"{address}/webhooks", "light", "en-GB"), folder)


def take_picture_of_systems(address: str, folder: Path) -> None:
    """Ask, have two further systems asked, and all judged."""
    with _open_browser() as browser:
        page = _open_page(browser, address, "light", "en-GB")
        page.get_by_role("textbox", name="Question").fill(QUESTION)
        page.get_by_role("button", name="Start the research").click()
        ask_further_systems(page)
        judge_side_by_side(page)
        _take(page, folder, "page-beside")


@contextmanager
def _open_browser() -> "Iterator[Browser]":
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


def _open_page(browser: "Browser", address: str, scheme: str, locale: str) -> "Page":
    context = browser.new_context(viewport=SIZE, color_scheme=scheme, locale=locale)  # type: ignore[arg-type]
    context.set_default_timeout(LIMIT_MS)
    page = context.new_page()
    page.goto(address)
    page.wait_for_load_state("networkidle")
    return page


def _ask(page: "Page", folder: Path) -> None:
    page.get_by_role("textbox", name="Question").fill(QUESTION)
    page.get_by_role("button", name="See the plan first").click()
    page.get_by_role("button", name="Hold the report to criteria").click()
    _take(page, folder, "page-ask")
    page.get_by_role("button", name="Start the research").click()
    page.get_by_role("button", name="Carry out this plan").wait_for()
    _take(page, folder, "page-approve")
    page.get_by_role("button", name="Carry out this plan").click()
    page.locator(".r-step.running").wait_for()
    _take(page, folder, "page-watch")


def _read(page: "Page", folder: Path) -> None:
    page.get_by_role("button", name="Download").wait_for()
    page.wait_for_selector("#r-card", state="attached")
    page.locator("article .r-cite").first.hover()
    _take(page, folder, "page-read")
    page.locator("article .r-cite").first.click()
    page.get_by_role("dialog").locator("mark").wait_for()
    _take(page, folder, "page-quote")
    page.keyboard.press("Escape")
    page.get_by_role("tab", name="Score").click()
    _take(page, folder, "page-score")
    page.locator(".r-change").first.click()
    page.get_by_role("dialog").wait_for()
    _take(page, folder, "page-change")
    page.keyboard.press("Escape")


def _follow_messages(page: "Page", folder: Path) -> None:
    """Send two tests to an endpoint: one arrives; at the second the endpoint is gone."""
    endpoint = ThreadingHTTPServer(("127.0.0.1", 0), _Endpoint)
    threading.Thread(target=endpoint.serve_forever, daemon=True).start()
    page.get_by_text("Add an address").click()
    page.get_by_label("Address (https)").fill(f"http://127.0.0.1:{endpoint.server_address[1]}/reports")
    page.get_by_label("Description").fill("The archive")
    page.get_by_role("button", name="Add it").click()
    page.get_by_role("link", name="The archive").click()
    page.get_by_role("button", name="Send a test").click()
    page.get_by_text("delivered").nth(1).wait_for()  # the first is the filter
    endpoint.shutdown()
    endpoint.server_close()
    page.get_by_role("button", name="Send a test").click()
    page.get_by_text("waits for the next try").wait_for()
    _take(page, folder, "page-webhooks")


class _Endpoint(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(204)
        self.end_headers()


def _take(page: "Page", folder: Path, name: str) -> None:
    page.wait_for_timeout(SETTLED_MS)
    page.get_by_test_id("stToast").first.wait_for(state="hidden")
    page.screenshot(path=folder / f"{name}.png")
    print(name, flush=True)


def main() -> None:
    """Start a stack, take the pictures, and end it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as home, run_whole_stack(Path(home), RUBRICA_WEBHOOK_NETWORKS="127.0.0.0/8") as addresses:
        take_pictures(addresses.page, folder)
    with (
        tempfile.TemporaryDirectory() as home,
        serve_stub_in_thread() as stub,
        run_whole_stack(Path(home), RUBRICA_LLM_BASE_URL=stub, RUBRICA_LLM_MODEL=MODEL) as addresses,
    ):
        take_picture_of_systems(addresses.page, folder)


if __name__ == "__main__":
    main()
