"""The whole product in a real browser: ask, approve the plan, watch, read, open a quotation, take the report away, compare.

Skipped where there is no Chromium. No model is set: the agents quote what they find.
"""

import re
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from infra.local.home import Home
from infra.local.lock import read_state
from tests.support.stack import RUBRICA, command_environment
from tests.ui.browsing import CHROMIUM

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
QUESTION = "How did presidents justify tariffs before 1900?"
START_LIMIT_S = 120
RUN_LIMIT_MS = 120_000
LIMIT_MS = 60_000
ADDED = "What farmers said of tariffs"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(420),
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine"),
]


@contextmanager
def everything(folder: Path, **settings: str) -> Iterator[str]:
    """`rubrica up` as a user starts it, with these settings; the page's address."""
    home, output = Home(folder / "home"), folder / "up.out"
    with output.open("wb") as out:
        process = subprocess.Popen(
            [*RUBRICA, "up"],
            env=command_environment(RUBRICA_HOME=str(home.root), **settings),
            stdout=out,
            stderr=out,
            start_new_session=True,
        )
    try:
        deadline = time.monotonic() + START_LIMIT_S
        while b"Ctrl-C stops" not in output.read_bytes():
            assert process.poll() is None, output.read_text()
            assert time.monotonic() < deadline, output.read_text()
            time.sleep(0.1)
        state = read_state(home.state)
        assert state is not None
        assert state.ui is not None
        yield state.ui
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(60)


def test_from_a_question_to_a_file(tmp_path: Path) -> None:
    with everything(tmp_path) as url, sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page()
        page.set_default_timeout(LIMIT_MS)
        sync_api.expect.set_options(timeout=LIMIT_MS)
        page.goto(url)
        _ask(page)
        _approve(page)
        page.get_by_role("button", name="Read the report").click(timeout=RUN_LIMIT_MS)
        assert "run=" in page.url
        quotation = _follow_a_citation(page)
        saved = " ".join(_saved(page, "Markdown").split())
        assert quotation[:40] in saved
        assert f"## {ADDED}" in saved, "the step that the reader added has its section"
        _compare(page)
        browser.close()


def _ask(page: "sync_api.Page") -> None:  # type: ignore[name-defined]
    page.get_by_role("textbox", name="Question").fill(QUESTION)
    page.get_by_role("radio", name="Quick").click()
    page.get_by_role("button", name="See the plan first").click()
    page.get_by_role("button", name="Start the research").click()


def _approve(page: "sync_api.Page") -> None:  # type: ignore[name-defined]
    """With a step that the reader added: it is in the plan that is carried out."""
    page.get_by_role("button", name="Add a step").wait_for(timeout=RUN_LIMIT_MS)
    titles = page.get_by_placeholder("What this step looks into")
    steps = titles.count()
    page.get_by_role("button", name="Add a step").click()
    sync_api.expect(titles).to_have_count(steps + 1)
    titles.last.fill(ADDED)
    page.get_by_role("button", name="Carry out this plan").click()
    sync_api.expect(page.locator(".r-plan h4", has_text=ADDED)).to_be_visible()


def _follow_a_citation(page: "sync_api.Page") -> str:  # type: ignore[name-defined]
    """The marked words behind the first number; a reload shows them again, and Escape puts them away."""
    page.wait_for_selector("#r-card", state="attached")  # the listener has come
    page.locator("article .r-cite").first.click()
    marked = page.get_by_role("dialog").locator("mark")
    sync_api.expect(marked).to_be_visible()
    quotation = str(marked.inner_text())
    assert len(quotation) > 20
    page.reload()
    sync_api.expect(marked).to_have_text(quotation)
    page.keyboard.press("Escape")
    sync_api.expect(page.get_by_role("dialog")).to_have_count(0)
    return quotation


def _saved(page: "sync_api.Page", form: str) -> str:  # type: ignore[name-defined]
    page.get_by_role("button", name="Download").click()
    with page.expect_download() as saved:
        page.get_by_role("button", name=form).click()
    page.keyboard.press("Escape")
    text = Path(saved.value.path()).read_text()
    assert saved.value.suggested_filename.endswith(".md")
    assert re.search(r"\[1\]", text)
    return text


def _compare(page: "sync_api.Page") -> None:  # type: ignore[name-defined]
    """A second report over the same evidence, blind; after the choice it is told which was which."""
    page.get_by_role("button", name="Compare", exact=True).click()
    page.get_by_role("combobox", name="How is the second").click()
    page.get_by_role("option", name="link by link").click()
    page.get_by_role("button", name="Write it").click()
    verdict = page.get_by_role("radiogroup").filter(has_text="Both are bad")
    verdict.get_by_role("radio", name="Right").click(timeout=RUN_LIMIT_MS)
    assert page.locator("article").count() == 2
    assert "arrangement" not in page.content()
    page.get_by_role("radio", name="Clearly").click()
    page.get_by_role("button", name="That is my choice").click()
    page.get_by_role("button", name="Tell me which was which").click()
    sync_api.expect(page.get_by_text("The report that the run delivered.")).to_be_visible()
    sync_api.expect(page.get_by_text("The second report.")).to_be_visible()
