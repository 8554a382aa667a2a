"""Changing a section, and what the evidence tells beside the text, as a reader meets them."""

from collections.abc import Callable
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from rubrica_client import reports
from tests.support.patience import PATIENCE_S
from tests.ui.example_runs import add_finished_run
from tests.ui.fake_api import START, FakeApi, FakeRun
from tests.ui.test_pages import shown
from ui.components.report_view import make_article
from ui.report import PageReport
from ui.session import open_client

OpenPage = Callable[..., AppTest]
WHEN = START.isoformat()
TASK = {"id": "t1", "how": "rewrite", "base": 1, "section": 0, "status": "done", "version": 2}


def changed(api: FakeApi, run: FakeRun, **task: Any) -> None:
    """The latest change of the run's report, which is at version 2."""
    path = f"/v1/runs/{run.id}"
    assert run.report is not None
    run.report["version"] = 2
    info = {"n": 2, "origin": "rewritten", "created_at": WHEN}
    sections = [{"heading": "Then & now", "level": 2, "markdown": "Lower [1]."}]
    whole = {"info": info, "title": "", "html": "", "sections": sections}
    words = [{"change": "removed", "text": "Lower"}, {"change": "added", "text": "Higher <i>"}]
    diff = {"sections": [{"change": "changed", "old": 0, "new": 0, "heading": "Then", "words": words}]}
    usage = {"input_tokens": 1_000, "output_tokens": 200, "cost_microusd": 12_000}
    api.answer("GET", f"{path}/changes", lambda *_: {"items": [TASK | {"usage": usage} | task]})
    api.answer("GET", f"{path}/versions/2", lambda *_: whole)
    api.answer("GET", f"{path}/versions/1/diff", lambda *_: diff)
    api.answer("POST", f"{path}/versions/1/revert", lambda *_: info)


def test_a_change_tells_what_it_cost_and_is_taken_back(api: FakeApi, open_page: OpenPage) -> None:
    run = add_finished_run(api)
    changed(api, run)
    app = open_page("read", run=run.id)
    assert "Version 2: a section was rewritten." in shown(app)
    assert "1,200 tokens · $0.01" in shown(app)
    app.button(key="change_see").click().run()
    assert "<del>Lower</del><ins>Higher &lt;i&gt;</ins>" in shown(app)
    app.button(key="change_undo").click().run()
    assert api.commands()[-1][:2] == ("POST", "revert")


def test_a_change_under_way_or_failed_says_so(api: FakeApi, open_page: OpenPage) -> None:
    run = add_finished_run(api)
    changed(api, run, status="failed", base=2, version=None, detail="the model <b>refused</b>")
    assert "the model &lt;b&gt;refused&lt;/b&gt;" in shown(open_page("read", run=run.id))
    changed(api, run, status="queued", base=2, version=None)
    api.answer("GET", f"/v1/runs/{run.id}/changes/t1", lambda *_: TASK | {"status": "queued"})
    assert "The section is being changed." in shown(open_page("read", run=run.id))


def test_a_change_that_is_done_while_the_page_is_drawn_is_shown(api: FakeApi, open_page: OpenPage) -> None:
    run = add_finished_run(api)
    changed(api, run)
    assert run.report is not None
    report = run.report
    report["version"] = 1

    def finish(*_: object) -> dict[str, Any]:
        report["version"] = 2
        return {"items": [TASK]}

    api.answer("GET", f"/v1/runs/{run.id}/changes", finish)
    assert "Version 2: a section was rewritten." in shown(open_page("read", run=run.id))


def test_a_section_is_rewritten_or_edited_as_it_was_read(api: FakeApi, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUBRICA_API_URL", api.url)
    monkeypatch.setenv("RUBRICA_API_KEY", "rbk_local")
    run = add_finished_run(api)
    for method, ending in (("POST", "/rewrite"), ("PUT", "")):
        api.answer(method, f"/v1/runs/{run.id}/sections/3{ending}", lambda *_: TASK)

    def form(url: str, run: str) -> None:
        from rubrica_client import runs
        from rubrica_client.models import Claim, SectionView
        from ui.components import section_change
        from ui.report import PageReport
        from ui.session import open_client

        client = open_client(url, {})
        section = SectionView(heading="Then", level=2, markdown="Lower [1].")
        claims = [Claim(text=text, section=under, support="full") for text, under in (("High.", "Now"), ("Lower.", "Then"))]
        report = PageReport(markdown="", version=5, claims=claims)
        section_change.show_form(client, client.send(runs.get(run)), report, 3, section)

    app = AppTest.from_function(form, args=(api.url, run.id), default_timeout=PATIENCE_S).run()
    app.segmented_control(key="change_how").set_value("deepen").run()
    app.text_area(key="change_wish").set_value("numbers first")
    app.button(key="change_go").click().run()
    assert api.commands()[-1] == ("POST", "rewrite", {"how": "deepen", "wish": "numbers first"})
    assert app.selectbox(key="change_sentence").options == ["Lower."], "only this section's sentences are there to choose"
    app.selectbox(key="change_sentence").set_value(1).run()
    app.button(key="change_go").click().run()
    assert "“Lower.”. numbers first" in (api.commands()[-1][2] or {})["wish"]
    app.segmented_control(key="change_how").set_value("flag").run()
    assert app.button(key="change_flag").disabled
    assert "say why" in app.button(key="change_flag").help, "a grey button says why"
    app.text_area(key="change_flag_reason").set_value("It was higher.").run()
    app.button(key="change_flag").click().run()
    assert api.received[-1][:2] == ("POST", f"/v1/runs/{run.id}/claims/1/flag")
    assert (api.received[-1][2] or {})["version"] == 5
    api.models = []
    app = AppTest.from_function(form, args=(api.url, run.id), default_timeout=PATIENCE_S).run()
    assert not app.text_area, "nobody heeds a wish without a model"
    app.segmented_control(key="change_how").set_value("edit").run()
    app.text_area(key="change_words_5_3").set_value("Higher [1].")
    app.button(key="change_go").click().run()
    assert api.commands()[-1] == ("PUT", "3", {"heading": "Then", "markdown": "Higher [1]."})


def test_only_headings_of_sections_can_be_changed() -> None:
    """In their order; a heading that is no section's gets no button, and what a heading says is no markup."""
    report = PageReport(markdown="# T\n\n## Notice\n\n## A *b* <x>\n\nOne.\n\n### C\n\nTwo.\n\n## Notice\n")
    html = make_article(report, sections=("A *b* <x>", "C", "Gone")).html
    assert html.count("data-section") == 2
    assert html.index('data-section="0"') < html.index("One.") < html.index('data-section="1"') < html.index("Two.")
    assert "<x>" not in html
    assert make_article(report).html.count("data-section") == 0


def test_figures_and_disagreements_are_below_the_text(api: FakeApi, open_page: OpenPage) -> None:
    run = add_finished_run(api)
    points = [{"label": str(year), "value": value, "text": f"{value} $", "n": 1} for year, value in ((1846, 10), (1850, 40))]
    figures = {
        "items": [{"text": "<b>10</b> $", "value": 10, "unit": "$", "year": 1846, "statement": "It was 10.", "n": 1}],
        "charts": [{"title": "Revenue", "unit": "$", "points": points, "svg": "<svg onload=alert(1)>"}],
    }
    quote = {"text": "It <rose>.", "source": {"title": "B", "url": "javascript:alert(1)"}}
    dispute = {"kind": "sources", "about": "duties", "sides": [{"n": 1, "quote": quote}], "reason": "one says more"}
    api.answer("GET", f"/v1/runs/{run.id}/figures", lambda *_: figures)
    api.answer("GET", f"/v1/runs/{run.id}/contradictions", lambda *_: {"items": [dispute]})
    html = shown(open_page("read", run=run.id))
    assert "&lt;b&gt;10&lt;/b&gt; $" in html
    widths = [f'style="width:calc((100% - 11rem) * {share})"' for share in ("0.250", "1.000")]
    assert all(width in html for width in widths), "bars compare as their numbers do, also the longest"
    assert "It &lt;rose&gt;. — B" in html
    assert "onload" not in html
    assert "javascript:" not in html
    assert html.index("<article") < html.index("<figcaption>Revenue") < html.index("</article>"), "it stands by its text"
    assert len(open_client(api.url, {}).send(reports.figures(run.id)).charts[0].points) == 2
