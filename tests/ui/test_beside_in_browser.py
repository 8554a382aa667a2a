"""Systems side by side in a real browser, over the whole product: one question, three systems, the same criteria afterwards.

Skipped where there is no Chromium. The model is the tests' stand-in: it writes sentences of the sources, and judges by dice.
"""

import asyncio
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.model_stub import MODEL, model_stub
from tests.ui.browsing import CHROMIUM
from tests.ui.test_end_to_end import LIMIT_MS, QUESTION, RUN_LIMIT_MS, everything

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(420),
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine"),
]


@contextmanager
def stub_in_a_thread() -> Iterator[str]:
    """The stand-in's address; Playwright's calls would hold up a loop of this thread."""
    loop, started, ended = asyncio.new_event_loop(), threading.Event(), asyncio.Event()
    address: list[str] = []

    async def serve() -> None:
        async with model_stub() as stub:
            address.append(stub.base_url)
            started.set()
            await ended.wait()

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()))
    thread.start()
    try:
        assert started.wait(30)
        yield address[0]
    finally:
        loop.call_soon_threadsafe(ended.set)
        thread.join()
        loop.close()


def test_three_systems_are_asked_read_and_judged_by_the_same_criteria(tmp_path: Path) -> None:
    with (
        stub_in_a_thread() as stub,
        everything(tmp_path, RUBRICA_LLM_BASE_URL=stub, RUBRICA_LLM_MODEL=MODEL) as url,
        sync_api.sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1400, "height": 1000})
        page.set_default_timeout(LIMIT_MS)
        sync_api.expect.set_options(timeout=LIMIT_MS)
        page.goto(url)
        page.get_by_role("textbox", name="Question").fill(QUESTION)
        page.get_by_role("radio", name="Quick").click()
        page.get_by_role("button", name="Start the research").click()
        page.get_by_role("button", name="Read the report").click(timeout=RUN_LIMIT_MS)
        _ask_further(page)
        reports = page.locator("article")
        sync_api.expect(reports).to_have_count(3, timeout=RUN_LIMIT_MS)
        assert page.locator(".r-beside th[scope=col]").all_inner_texts() == ["MindDR", "MaMs", "ReAct"]
        assert all(re.search(r"presidents|tariff", text, re.IGNORECASE) for text in reports.all_text_contents())
        before = reports.all_text_contents()
        sync_api.expect(_scores(page)).to_have_text(["–"] * 3)
        page.get_by_role("button", name="Judge them by the same criteria").click()
        sync_api.expect(page.get_by_text("All are judged by the same criteria.")).to_be_visible()
        judged = re.compile(r"\d+%\s+\d of 7 criteria were judged")
        sync_api.expect(_scores(page)).to_have_text([judged] * 3, timeout=RUN_LIMIT_MS)
        sync_api.expect(reports).to_have_text(before, timeout=RUN_LIMIT_MS)
        _open_a_quotation(page)
        browser.close()


def _ask_further(page: "sync_api.Page") -> None:  # type: ignore[name-defined]
    page.get_by_role("button", name="Other systems").click()
    for system in ("MaMs", "ReAct"):
        page.get_by_role("button", name=system).click()
    page.get_by_role("button", name="Ask them too").click()


def _scores(page: "sync_api.Page") -> "sync_api.Locator":  # type: ignore[name-defined]
    row = page.locator(".r-beside tr").filter(has=page.get_by_role("rowheader", name="Score", exact=True))
    return row.locator("td")


def _open_a_quotation(page: "sync_api.Page") -> None:  # type: ignore[name-defined]
    """Of the second system's report."""
    page.wait_for_selector("#r-card", state="attached")  # the listener has come
    page.locator('article [data-cite^="1-"]').first.click()
    assert len(page.get_by_role("dialog").locator("mark").inner_text()) > 20
