"""What is settled before a run begins, and what its report is held to, as a reader meets it."""

from collections.abc import Callable
from re import Match

import pytest
from streamlit.testing.v1 import AppTest

from rubrica_client.models import Criterion, Estimate, Interval, Run
from tests.ui.example_runs import PLAN, QUESTION, add_finished_run
from tests.ui.fake_api import FakeApi, Json
from tests.ui.fake_asking import CRITERIA, add_collections, add_estimate, add_run_awaiting_approval, add_scorecard
from tests.ui.test_pages import shown
from tests.ui.whole_answers import fill_in
from ui.components.before_start import estimate_html
from ui.components.problem import explain_stop
from ui.components.rubric_editor import join_criterion, split_criterion

OpenPage = Callable[..., AppTest]


def test_sources_that_are_not_set_up_cannot_be_chosen_and_the_page_says_why(api: FakeApi, open_page: OpenPage) -> None:
    app = open_page("ask")
    assert app.pills(key="sources").options == ["The corpora"]
    assert "Searches: the default corpus</p>" in shown(app), "said before anything is typed"
    said = "".join(caption.value for caption in app.caption)
    assert "Not set up here: The web, Papers." in said
    assert "RUBRICA_SEARXNG_URL" in said, "the owner of the machine can set it"
    api.sources.append("web")
    app = open_page("ask")
    assert app.pills(key="sources").options == ["The corpora", "The web"]
    assert "Searches: the default corpus, The web</p>" in shown(app)
    app.pills(key="sources").set_value(["corpora"]).run()
    assert "Searches: the default corpus</p>" in shown(app)


def test_a_model_that_refuses_is_told_before_the_start(api: FakeApi, open_page: OpenPage) -> None:
    add_estimate(api, refusal="the language model 'm' refuses every request (HTTP 401: Incorrect <key>)")
    app = open_page("ask")
    app.text_area(key="question").set_value(QUESTION).run()
    assert "A run would not start: the language model" in shown(app)
    assert "Incorrect &lt;key&gt;" in shown(app)
    assert "from 5 runs" not in shown(app)
    add_estimate(api)
    assert "from 5 runs" in shown(app.run()), "what was put right is not held against the same question"


def test_who_does_not_run_the_installation_is_told_of_no_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader of a hosted page can put neither a key nor a model's name right."""
    why = "the language model refuses every request; check RUBRICA_LLM_API_KEY"
    likely = Interval(low=1, likely=1, high=1)
    refused = Estimate(tokens=likely, cost_microusd=likely, seconds=likely, runs=0, within_budget=True, refusal=why)
    stopped = fill_in(Run, {"id": "r1", "reason": "model_refused", "detail": why})
    monkeypatch.setenv("RUBRICA_API_KEY", "k")
    assert "RUBRICA_LLM_API_KEY" in estimate_html(refused)
    assert "RUBRICA_LLM_API_KEY" in explain_stop(Run.model_validate(stopped))
    monkeypatch.delenv("RUBRICA_API_KEY")
    assert "Tell whoever runs this installation" in estimate_html(refused)
    assert explain_stop(Run.model_validate(stopped)).startswith("Tell whoever runs this installation")
    assert "RUBRICA" not in estimate_html(refused) + explain_stop(Run.model_validate(stopped))


def test_the_estimate_is_an_interval_with_its_ground(api: FakeApi, open_page: OpenPage) -> None:
    add_estimate(api)
    app = open_page("ask")
    app.text_area(key="question").set_value(QUESTION).run()
    assert "3:00 – 7:00 · $0.02 – $0.06 · 40k – 90k tokens · from 5 runs like it" in shown(app)


@pytest.mark.parametrize(
    ("runs", "basis"),
    [
        (0, "general experience; no run like it has ended here yet"),
        (2, "mostly general experience; 2 runs like it so far"),
        (5, "from 5 runs like it"),
    ],
)
def test_an_estimate_says_what_it_rests_on(runs: int, basis: str) -> None:
    likely = Interval(low=1, likely=1, high=1)
    made = Estimate(tokens=likely, cost_microusd=likely, seconds=likely, runs=runs, within_budget=True)
    assert estimate_html(made).endswith(f"· {basis}</p>")


def test_collections_that_fit_are_searched_besides_the_default_corpus_unless_the_reader_chooses(
    api: FakeApi, open_page: OpenPage
) -> None:
    add_collections(api, "Leases", "Manuals", fitting=("Leases",))
    api.sources.append("web")
    app = open_page("ask")
    app.text_area(key="question").set_value(QUESTION).run()
    assert app.multiselect(key="own").value == ["Leases"]
    assert "Searches: your collection Leases, the default corpus, The web</p>" in shown(app)
    app.button(key="start").click().run()
    assert take_sent(api) == (["Leases"], ["corpora", "collections", "web", "scholar"])

    app = open_page("ask")
    app.text_area(key="question").set_value(QUESTION).run()
    app.toggle(key="beside").set_value(False).run()
    assert "Searches: your collection Leases, The web</p>" in shown(app), "nothing but the default corpus is left out"
    app.pills(key="sources").set_value(["web"]).run()
    assert "Searches: your collection Leases, The web</p>" in shown(app)
    app.button(key="start").click().run()
    assert take_sent(api) == (["Leases"], ["web", "collections"])

    app = open_page("ask")
    app.text_area(key="question").set_value(QUESTION).run()
    app.multiselect(key="own").set_value([]).run()
    app.text_area(key="question").set_value(f"{QUESTION} And later?").run()
    assert app.multiselect(key="own").value == [], "a choice stays"
    assert "Searches: the default corpus, The web</p>" in shown(app)
    app.button(key="start").click().run()
    assert take_sent(api) == ([], None)


def take_sent(api: FakeApi) -> tuple[object, object]:
    """Collections and sources of the run that was asked last."""
    body = [body for _, path, body in api.commands() if path == "runs"][-1] or {}
    return body.get("collections"), body.get("sources")


def test_wishes_go_along_and_questions_back_come_first(api: FakeApi, open_page: OpenPage) -> None:
    add_estimate(api)
    app = open_page("ask")
    app.text_area(key="question").set_value(QUESTION)
    app.pills(key="wishes").set_value(["plan", "rubric", "back"])
    app.button(key="start").click().run()
    assert not [body for _, path, body in api.commands() if path == "runs"], "nothing starts before the questions"
    app.selectbox(key="clarified_0").set_value("1789-1860")
    app.button(key="start_clarified").click().run()
    sent = next(body for _, path, body in api.commands() if path == "runs")
    assert sent is not None
    assert (sent["approve_plan"], sent["rubric"]) == (True, "auto")
    assert sent["clarified"] == [{"question": "Which period?", "answer": "1789-1860"}]


def test_a_plan_and_its_criteria_are_changed_and_approved(api: FakeApi, open_page: OpenPage) -> None:
    run = add_run_awaiting_approval(api)
    app = open_page("watch", run=run.id)
    assert "The plan waits for you" in shown(app)
    assert "Made of &lt;b&gt;general&lt;/b&gt; demands." in shown(app)
    key = f"plan_{run.id}"
    app.text_input(key=f"{key}_title_s1").set_value("Revenue before 1816")
    app.button(key=f"{key}_down_s1").click().run()
    app.button(key=f"{key}_drop_s3").click().run()
    app.button(key=f"{key}_add").click().run()
    app.text_area(key=f"{key}_question_added1").set_value("Who spoke against them?")
    app.selectbox(key=f"rubric_{run.id}_kind_0").set_value("key").run()
    app.button(key=f"rubric_{run.id}_drop_1").click().run()
    app.button(key=f"{key}_save").click().run()
    sent = {path: body for _, path, body in api.commands()}
    steps = (sent["plan"] or {})["subtasks"]
    assert [(step["id"], step["title"]) for step in steps] == [
        ("s2", "Protection of manufactures"),
        ("s1", "Revenue before 1816"),
        ("added1", "Who spoke against them?"),
    ]
    criteria = (sent["rubric"] or {})["criteria"]
    assert [criterion["title"] for criterion in criteria] == [
        "Aspect 1",
        "Aspect 3",
        "Aspect 4",
        "Aspect 5",
        "Aspect 6",
        "No invention",
    ]
    assert criteria[0] == {"title": "Aspect 1", "description": "Key Criterion: The report covers aspect 1.", "weight": 5}
    assert [path for _, path, _ in api.commands()] == ["plan", "rubric", "approve"]
    assert api.matched == ['"plan-1"'], "whoever changed the plan meanwhile is not overruled"
    assert "The plan waits for you" not in shown(app.run())


def test_a_new_step_never_has_the_id_of_one_that_was_there(api: FakeApi, open_page: OpenPage) -> None:
    run = add_run_awaiting_approval(api)
    step = {"id": "added1", "title": "Wages", "question": "Which wages?"}
    plan = {**PLAN, "revision": 3, "subtasks": [*PLAN["subtasks"], step], "removed": [{"id": "added2", "asked": "0" * 16}]}
    run.fields["plan"] = plan
    run.emit("plan_revised", {"plan": plan})
    app, key = open_page("watch", run=run.id), f"plan_{run.id}"
    app.button(key=f"{key}_drop_added1").click().run()
    app.button(key=f"{key}_add").click().run()
    app.text_area(key=f"{key}_question_added3").set_value("Who spoke against them?")
    app.button(key=f"{key}_save").click().run()
    sent = {path: body or {} for _, path, body in api.commands()}
    assert [step["id"] for step in sent["plan"]["subtasks"]] == ["s1", "s2", "s3", "added3"]


def test_what_was_typed_over_a_plan_outlives_a_reload_and_another_page(api: FakeApi, open_page: OpenPage) -> None:
    run = add_run_awaiting_approval(api)
    key, rubric = f"plan_{run.id}", f"rubric_{run.id}"
    app = open_page("watch", run=run.id)
    app.text_input(key=f"{key}_title_s1").set_value("Revenue before 1816")
    app.button(key=f"{key}_down_s1").click().run()
    app.button(key=f"{key}_add").click().run()
    app.text_area(key=f"{key}_question_added1").set_value("Who spoke against them?")
    app.text_area(key=f"{rubric}_demand_1").set_value("It names the tariff of 1828.").run()
    app.button(key=f"{rubric}_drop_0").click().run()
    app.switch_page("views/history.py").run()
    elsewhere = app.switch_page("views/watch.py").run()
    for seen in (elsewhere, open_page("watch", run=run.id)):
        assert seen.text_input(key=f"{key}_title_s1").value == "Revenue before 1816"
        assert seen.text_area(key=f"{key}_question_added1").value == "Who spoke against them?"
        assert seen.text_input(key=f"{rubric}_title_0").value == "Aspect 2"
        assert seen.text_area(key=f"{rubric}_demand_0").value == "It names the tariff of 1828."
    seen.button(key=f"{key}_save").click().run()
    sent = {path: body or {} for _, path, body in api.commands()}
    assert [step["id"] for step in sent["plan"]["subtasks"]] == ["s2", "s1", "s3", "added1"]
    assert sent["rubric"]["criteria"][0]["description"] == "Important Criterion: It names the tariff of 1828."


def test_what_was_typed_over_an_older_plan_gives_way_and_no_other_person_sees_it(api: FakeApi, open_page: OpenPage) -> None:
    run, key = add_run_awaiting_approval(api), "title_s1"
    open_page("watch", run=run.id).text_input(key=f"plan_{run.id}_{key}").set_value("Mine").run()
    other = {"user_id": "u9", "organisation": {"id": "o9", "name": "Other"}, "scopes": ["runs:read", "runs:write"]}
    api.answer("GET", "/v1/me", lambda *_: other)
    assert open_page("watch", run=run.id).text_input(key=f"plan_{run.id}_{key}").value != "Mine"
    api.answer("GET", "/v1/me", lambda *_: (404, "no accounts"))
    assert open_page("watch", run=run.id).text_input(key=f"plan_{run.id}_{key}").value == "Mine"
    run.emit("plan_revised", {"plan": PLAN | {"revision": 2}}, "user")
    run.fields["plan"] = PLAN | {"revision": 2}
    assert open_page("watch", run=run.id).text_input(key=f"plan_{run.id}_{key}").value != "Mine"


@pytest.mark.parametrize("what", ["plan", "rubric"])
def test_what_a_colleague_changed_meanwhile_is_read_before_it_is_approved(api: FakeApi, open_page: OpenPage, what: str) -> None:
    run = add_run_awaiting_approval(api)
    key = f"plan_{run.id}"
    app = open_page("watch", run=run.id)
    if what == "plan":
        steps = [PLAN["subtasks"][0] | {"title": "A colleague's"}, *PLAN["subtasks"][1:]]
        run.fields["plan"] = PLAN | {"revision": 2, "subtasks": steps}
        run.emit("plan_revised", {"plan": run.fields["plan"]}, "user")
    else:
        rubric = {"criteria": [CRITERIA[0] | {"title": "A colleague's"}, *CRITERIA[1:]], "origin": "general", "notice": ""}
        api.answer("GET", f"/v1/runs/{run.id}/rubric", lambda *_: {"rubric": rubric, "drafted": None})
    while not any(field.value == "A colleague's" for field in app.text_input):
        app.button(key=f"{key}_save").click().run()
    assert "Somebody has changed the plan" in shown(app)
    assert not api.commands()
    app.button(key=f"{key}_save").click().run()
    assert [path for _, path, _ in api.commands()] == ["approve"], "the colleague's words are not undone"


def test_a_start_without_an_answer_is_tried_again_as_the_same(api: FakeApi, open_page: OpenPage) -> None:
    app = open_page("ask")
    app.text_area(key="question").set_value("Why tariffs?").run()
    api.answer("POST", "/v1/runs", lambda *_: (400, "not now"))
    for _ in range(2):
        app.button(key="start").click().run()
    assert len(set(api.keys)) == 2, "after an answer another try is a new one"
    api.answer("POST", "/v1/runs", _hang_up)
    for _ in range(2):
        app.button(key="start").click().run()
    assert len(api.keys) == 4
    assert len(set(api.keys[2:])) == 1


def _hang_up(_: Match[str], __: Json | None) -> Json:
    raise ConnectionAbortedError


def test_an_untouched_plan_is_only_approved(api: FakeApi, open_page: OpenPage) -> None:
    run = add_run_awaiting_approval(api)
    open_page("watch", run=run.id).button(key=f"plan_{run.id}_save").click().run()
    assert [path for _, path, _ in api.commands()] == ["approve"]


def test_a_refused_plan_stays_as_it_was_typed(api: FakeApi, open_page: OpenPage) -> None:
    run = add_run_awaiting_approval(api)
    api.answer("PUT", f"/v1/runs/{run.id}/plan", lambda *_: (400, "two subtasks share an id"))
    app = open_page("watch", run=run.id)
    title = app.text_input(key=f"plan_{run.id}_title_s1").set_value("Mine")
    app.button(key=f"plan_{run.id}_save").click().run()
    assert "Two subtasks share an id" in shown(app)
    assert title.value == "Mine"
    assert [path for _, path, _ in api.commands()] == ["plan"]


def test_a_report_comes_with_its_score(api: FakeApi, open_page: OpenPage) -> None:
    run = add_finished_run(api)
    assert 'class="r-score"' not in shown(open_page("read", run=run.id))
    add_scorecard(api, run)
    html = shown(open_page("read", run=run.id))
    assert "<b>62%</b>" in html
    assert '<em>found</em><div class="r-bar poor"><i style="width:80%"></i></div>' in html, "a fault that is there is poor"
    add_scorecard(api, run, fault=0.0)
    html = shown(open_page("read", run=run.id))
    assert '<em>not found</em><div class="r-bar good"><i style="width:100%"></i></div>' in html, "and a good report has 0% of it"
    assert "One &lt;i&gt;quotation&lt;/i&gt; is invented." in html
    assert "Not judged: no model is set" in html
    assert "Revised for: Aspect 1" in html


def test_a_criterion_keeps_its_weight_where_its_category_allows_it() -> None:
    before = Criterion(title="Period", description="重要标准：报告覆盖整个时期。", weight=3)
    category, demand = split_criterion(before)
    assert (category, demand) == ("important", "报告覆盖整个时期。")
    assert join_criterion("Period", category, demand, before, "zh") == before
    assert join_criterion("Period", "error", demand, before, "en").weight == -2
