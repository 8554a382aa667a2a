"""The page in a real browser. Needs `pip install playwright` and a Chromium on the machine; skipped where they are missing."""

import pytest

from tests.ui.browsing import CHROMIUM, page_server
from tests.ui.fake_api import FakeApi
from tests.ui.stories import QUOTE, finished, searching

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
sync_api.expect.set_options(timeout=30_000)

pytestmark = [pytest.mark.slow, pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")]


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
