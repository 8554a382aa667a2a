"""The whole product in a real browser, one stack for all: ask, approve the plan, watch, read, open a quotation, take the report
away, compare; and in another organisation: three systems side by side, judged by the same criteria afterwards.

Skipped where there is no Chromium. The model is the tests' stand-in: it writes sentences of the sources, and judges by dice.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("playwright", reason="playwright is not installed: `make extras`")

from playwright import sync_api

from tests.support.model_stub import MODEL
from tests.ui.page_steps import ask_further_systems, judge_side_by_side, write_second_report
from tests.ui.real_api import PASSWORD
from tests.ui.real_page import serve_page
from tests.ui.whole_stack import StackAddresses, run_whole_stack, serve_stub_in_thread

QUESTION = "How did presidents justify tariffs before 1900?"
LATEST = ".st-key-latest"  # one's latest runs, at the side
ADDED = "What farmers said of tariffs"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(1_800),
    pytest.mark.extra("Chromium", "playwright"),
]


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StackAddresses]:
    """Everything, with a model."""
    folder = tmp_path_factory.mktemp("stack")
    with serve_stub_in_thread() as stub, run_whole_stack(folder, RUBRICA_LLM_BASE_URL=stub, RUBRICA_LLM_MODEL=MODEL) as addresses:
        yield addresses


def test_from_a_question_to_a_file(stack: StackAddresses, page: sync_api.Page) -> None:
    page.goto(stack.page)
    _ask(page)
    _approve(page)
    sync_api.expect(page.get_by_role("button", name="Download")).to_be_visible()  # Watch opens the report at its end
    assert "run=" in page.url
    quotation = _follow_a_citation(page)
    assert quotation[:40] in " ".join(_saved(page, "Markdown").split())
    _compare(page)
    sync_api.expect(page.locator(LATEST)).to_contain_text(QUESTION[:20])


def test_three_systems_are_asked_read_and_judged_by_the_same_criteria(
    stack: StackAddresses,
    page: "sync_api.Page",  # type: ignore[name-defined]
) -> None:
    """By a stranger who signs up, beside the stack's own organisation, of which they see nothing."""
    with serve_page(stack.api, key="") as url:
        _sign_up(page, url)
        sync_api.expect(page.get_by_role("textbox", name="Question")).to_be_visible()
        assert page.locator(LATEST).count() == 0, "what others asked is not theirs"
        page.get_by_role("textbox", name="Question").fill(QUESTION)
        page.get_by_role("radio", name="Quick").click()
        page.get_by_role("button", name="Start the research").click()
        ask_further_systems(page)
        reports = page.locator("article")
        sync_api.expect(reports).to_have_count(3)
        assert page.locator(".r-beside th[scope=col]").all_inner_texts() == ["MindDR", "MaMs", "ReAct"]
        assert all(re.search(r"presidents|tariff", text, re.IGNORECASE) for text in reports.all_text_contents())
        before = reports.all_text_contents()
        sync_api.expect(_scores(page)).to_have_text(["–"] * 3)
        judge_side_by_side(page)
        judged = re.compile(r"\d+%\s+\d of \d criteria were judged")
        sync_api.expect(_scores(page)).to_have_text([judged] * 3)
        sync_api.expect(reports).to_have_text(before)
        _open_a_quotation(page)


def _sign_up(page: "sync_api.Page", url: str) -> None:  # type: ignore[name-defined]
    page.goto(url)
    page.get_by_role("link", name="I am new here").click()
    typed = {"Organisation": "Hazel", "Your name": "Ann", "E-mail": "ann@hazel.example", "A pass": PASSWORD}
    for label, words in typed.items():
        page.get_by_label(label).fill(words)
    page.get_by_role("button", name="Sign up").click()


def _ask(page: sync_api.Page) -> None:
    page.get_by_role("textbox", name="Question").fill(QUESTION)
    page.get_by_role("radio", name="Quick").click()
    page.get_by_role("button", name="See the plan first").click()
    page.get_by_role("button", name="Start the research").click()


def _approve(page: sync_api.Page) -> None:
    """With a step that the reader added: it is in the plan that is carried out."""
    page.get_by_role("button", name="Add a step").wait_for()
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


def _compare(page: sync_api.Page) -> None:
    """A second report over the same evidence, blind; after the choice it is told which was which."""
    write_second_report(page)
    verdict = page.get_by_role("radiogroup").filter(has_text="Both are bad")
    verdict.get_by_role("radio", name="Right").click()
    assert page.locator("article").count() == 2
    assert "arrangement" not in page.content()
    page.get_by_role("radio", name="Clearly").click()
    page.get_by_role("button", name="That is my choice").click()
    page.get_by_role("button", name="Tell me which was which").click()
    sync_api.expect(page.get_by_text("The report that the run delivered.")).to_be_visible()
    sync_api.expect(page.get_by_text("The second report.")).to_be_visible()


def _scores(page: "sync_api.Page") -> "sync_api.Locator":  # type: ignore[name-defined]
    row = page.locator(".r-beside tr").filter(has=page.get_by_role("rowheader", name="Score", exact=True))
    return row.locator("td")


def _open_a_quotation(page: sync_api.Page) -> None:
    """Of the second system's report."""
    page.wait_for_selector("#r-card", state="attached")  # the listener has come
    page.locator('article [data-cite^="1-"]').first.click()
    assert len(page.get_by_role("dialog").locator("mark").inner_text()) > 20
