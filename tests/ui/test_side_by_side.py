"""Systems side by side, as a reader meets them: asked at once, added to a report, compared criterion by criterion."""

import re
from collections.abc import Callable

from streamlit.testing.v1 import AppTest

from tests.ui.example_runs import add_finished_run
from tests.ui.fake_api import FakeApi, Json
from tests.ui.fake_side_by_side import add_side_by_side
from tests.ui.test_pages import shown

OpenPage = Callable[..., AppTest]


def row(page: str, label: str) -> list[str]:
    """The cells beside a row's label, as text."""
    found = re.search(rf'<tr><th scope="row">(?:<span[^>]*>)?{re.escape(label)}.*?</tr>', page, re.DOTALL)
    assert found, label
    return [" ".join(re.sub("<[^>]+>", " ", cell).split()) for cell in re.findall(r"<td>(.*?)</td>", found[0], re.DOTALL)]


def test_three_reports_with_their_scorecards_side_by_side(api: FakeApi, open_page: OpenPage) -> None:
    first, _ = add_side_by_side(api)
    app = open_page("side_by_side", run=first.id)
    page = shown(app)
    assert re.findall(r'<th scope="col">(.*?)</th>', page) == ["MindDR", "MaMs", "ReAct"]
    latest = {link.label.replace("\\", "").partition(" did")[0] for link in app.sidebar.get("page_link")}
    assert {"How", "MaMs: How", "ReAct: How"} <= latest, "one question three times: the list tells them apart"
    assert row(page, "Score") == ["90% 2 of 3 criteria were judged", "35% 3 of 3 criteria were judged", "–"]
    assert row(page, "Turns") == ["21", "4", "–"]
    assert row(page, "Tool calls") == ["12", "6", "–"]
    assert row(page, "Citations") == ["2", "3", "–"]
    assert row(page, "Sources others cite too") == ["1 of 1", "1 of 2", "–"]
    assert row(page, "Claims fully supported") == ["1 of 3", "1 of 3", "–"]
    assert row(page, "Aspect 1") == [
        "90% Why Covered &lt;b&gt;at length&lt;/b&gt;.",
        "35% Why Covered &lt;b&gt;at length&lt;/b&gt;.",
        "–",
    ]
    assert row(page, "Aspect 2")[0].endswith("no &lt;i&gt;model&lt;/i&gt;")
    fault = re.search(r"No invention.*?</tr>", page, re.DOTALL)
    assert fault
    assert re.findall(r"r-bar (\w+)", fault[0]) == ["good", "poor"], "a high score of a fault is bad"
    assert 'data-cite="0-1"' in page
    assert 'data-cite="1-1"' in page
    assert "the model &lt;b&gt;was away&lt;/b&gt;" in page


def test_systems_at_work_are_watched(api: FakeApi, open_page: OpenPage) -> None:
    first, story = add_side_by_side(api)
    for column in story["columns"][1:]:
        column["run"]["status"] = "running"
        column["scorecard"] = None
    page = shown(open_page("side_by_side", run=first.id))
    assert row(page, "Status") == ["Report ready", "At work", "At work"]
    assert "<article" not in page, "the texts come once all have ended"


def test_reports_without_criteria_are_judged_by_the_same_ones_on_request(api: FakeApi, open_page: OpenPage) -> None:
    first, story = add_side_by_side(api)
    rubric, cards = story["rubric"], [column["scorecard"] for column in story["columns"]]
    story["rubric"] = None
    for column in story["columns"]:
        column["scorecard"] = None
    story["columns"][1]["unjudged"] = "the budget <b>is</b> reached"
    app = open_page("side_by_side", run=first.id)
    page = shown(app)
    assert "asked without criteria" in page
    assert "judged by the same criteria" not in page
    assert "MaMs was not judged: the budget <b>is</b> reached" in [caption.value for caption in app.caption]

    def judged(*_: object) -> Json:
        story["rubric"] = rubric
        story["columns"][0]["judging"] = True
        return story

    api.answer("POST", f"/v1/runs/{first.id}/side-by-side/scores", judged)
    app.button(key="judge").click().run()
    page = shown(app)
    assert row(page, "Score") == ["being judged", "–", "–"]
    assert "judged by the same criteria" in page
    assert "<article" not in page, "the texts come once all are judged"
    for column, card in zip(story["columns"], cards, strict=True):
        column |= {"judging": False, "scorecard": card, "unjudged": ""}
    app = open_page("side_by_side", run=first.id)
    assert row(shown(app), "Aspect 1")[0].startswith("90%")
    assert not [button for button in app.button if button.key == "judge"], "a failed run leaves nothing to judge"


def test_several_systems_are_asked_at_once(api: FakeApi, open_page: OpenPage) -> None:
    app = open_page("ask")
    app.text_area(key="question").set_value("Why tariffs?")
    app.button_group(key="systems").set_value(["minddr", "mams", "react"]).run()
    app.button(key="start").click().run()
    body = next(sent for _, what, sent in api.commands() if what == "runs")
    assert body is not None
    assert (body["system"], body["beside"], body["rubric"]) == ("minddr", ["mams", "react"], "auto")


def test_other_systems_are_added_to_a_report(
    api: FakeApi, open_page: OpenPage, follow_link: Callable[[AppTest], AppTest]
) -> None:
    first, _ = add_side_by_side(api)
    app = open_page("read", run=first.id)
    assert app.button(key="add_systems").disabled
    app.button_group(key="further_systems").set_value(["mams", "deeprubric"]).run()
    app.button(key="add_systems").click().run()
    assert api.commands()[-1] == ("POST", "side-by-side", {"systems": ["mams", "deeprubric"]})
    assert "MaMs" in shown(follow_link(app))


def test_a_system_that_is_not_to_be_had_is_told(api: FakeApi, open_page: OpenPage) -> None:
    run = add_finished_run(api)
    api.answer("POST", f"/v1/runs/{run.id}/side-by-side", lambda *_: (400, "the system mams needs a language model"))
    app = open_page("read", run=run.id)
    app.button_group(key="further_systems").set_value(["mams"]).run()
    app.button(key="add_systems").click().run()
    assert "needs a language model" in shown(app)
