"""`python -m tests.ui.take_pictures FOLDER`: take the pictures of docs/page.md, of a real stack without a model.

The first start builds the default index; the pictures are taken once it has its vectors.
"""

import argparse
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tests.ui.real_page import CHROMIUM, LIMIT_MS
from tests.ui.whole_stack import run_whole_stack

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
    _take(page, folder, "page-ask")
    page.get_by_role("button", name="Start the research").click()
    page.get_by_role("button", name="Carry out this plan").wait_for()
    _take(page, folder, "page-approve")
    page.get_by_role("button", name="Carry out this plan").click()
    page.get_by_role("button", name="Download").wait_for()
    page.get_by_role("link", name="Progress", exact=True).click()
    page.get_by_role("button", name="Read the report").wait_for()
    _take(page, folder, "page-watch")


def _read(page: "Page", folder: Path) -> None:
    page.get_by_role("button", name="Read the report").click()
    page.wait_for_selector("#r-card", state="attached")
    page.locator("article .r-cite").first.hover()
    _take(page, folder, "page-read")
    page.locator("article .r-cite").first.click()
    page.get_by_role("dialog").locator("mark").wait_for()
    _take(page, folder, "page-quote")
    page.keyboard.press("Escape")


def _take(page: "Page", folder: Path, name: str) -> None:
    page.wait_for_timeout(SETTLED_MS)
    page.screenshot(path=folder / f"{name}.png")
    print(name, flush=True)


def main() -> None:
    """Start a stack, take the pictures, and end it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as home, run_whole_stack(Path(home)) as addresses:
        take_pictures(addresses.page, folder)


if __name__ == "__main__":
    main()
