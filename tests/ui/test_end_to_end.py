"""The whole product in a real browser: ask, approve the plan, watch, read, open a quotation, take the report away.

Skipped where there is no Chromium. No model is set: the agents quote what they find.
"""

import re
import shutil
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

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
QUESTION = "How did presidents justify tariffs before 1900?"
START_LIMIT_S = 90
RUN_LIMIT_MS = 120_000

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(420),
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine"),
]


@contextmanager
def everything(folder: Path) -> Iterator[str]:
    """`rubrica up` as a user starts it; the page's address."""
    home, output = Home(folder / "home"), folder / "up.out"
    with output.open("wb") as out:
        process = subprocess.Popen(
            [*RUBRICA, "up"],
            env=command_environment(RUBRICA_HOME=str(home.root)),
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
        page.set_default_timeout(30_000)
        sync_api.expect.set_options(timeout=30_000)
        page.goto(url)

        page.get_by_role("textbox", name="Question").fill(QUESTION)
        page.get_by_role("radio", name="Quick").click()
        page.get_by_role("button", name="See the plan first").click()
        page.get_by_role("button", name="Start the research").click()

        page.get_by_role("button", name="Carry out this plan").click(timeout=RUN_LIMIT_MS)
        page.get_by_role("button", name="Read the report").click(timeout=RUN_LIMIT_MS)
        assert "run=" in page.url

        page.wait_for_selector("#r-card", state="attached")
        quotation = _first_quotation(page)
        assert len(quotation) > 20
        page.reload()
        sync_api.expect(page.get_by_role("dialog").locator("mark")).to_have_text(quotation)
        page.keyboard.press("Escape")
        sync_api.expect(page.get_by_role("dialog")).to_have_count(0)

        page.get_by_role("button", name="Download").click()
        with page.expect_download() as saved:
            page.get_by_role("button", name="Markdown").click()
        text = Path(saved.value.path()).read_text()
        assert saved.value.suggested_filename.endswith(".md")
        assert re.search(r"\[1\]", text)
        assert quotation[:40] in " ".join(text.split())

        browser.close()


def _first_quotation(page: "sync_api.Page") -> str:  # type: ignore[name-defined]
    """The marked words behind the first number, as the drawer shows them."""
    page.locator("article .r-cite").first.click()
    marked = page.get_by_role("dialog").locator("mark")
    sync_api.expect(marked).to_be_visible()
    return str(marked.inner_text())
