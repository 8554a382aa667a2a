"""The pages as a visitor meets them, through Streamlit's own test runner and a real socket to the API."""

from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import NumberInput

from tests.support.patience import PATIENCE_S
from tests.ui.example_runs import PLAN, QUESTION, QUOTE, add_finished_run, add_searching_run
from tests.ui.fake_api import FakeApi, FakeRun

OpenPage = Callable[..., AppTest]


def shown(app: AppTest) -> str:
    """All HTML on the page."""
    assert not app.exception, app.exception
    return "\n".join(str(block.body) for block in app.html)


def caught_up(app: AppTest, events: int) -> AppTest:
    """Refresh the page until its log has this many events, and once more: parts above the log may be from the moment before."""
    while f"{events} events" not in shown(app):
        app.run()
    return app.run()


def test_asking_starts_a_run_and_leads_to_its_page(api: FakeApi, open_page: OpenPage) -> None:
    api.sources += ["web", "scholar"]
    app = open_page("ask")
    app.text_area(key="question").set_value(QUESTION)
    app.segmented_control(key="effort").set_value("deep")
    app.number_input(key="cap_cost").set_value(0.25)
    app.selectbox(key="length").set_value("short")
    app.pills(key="sources").set_value(["web"])
    app.date_input(key="published_from").set_value(date(1850, 1, 1))
    app.multiselect(key="tools_that_write").set_value(["shop.order"])
    app.button(key="start").click().run()
    sent = api.commands()[0][2]
    budget = {"max_cost_microusd": 250_000, "max_tokens": None, "max_seconds": None}
    assert sent == {
        **{"question": QUESTION, "effort": "deep", "budget": budget},
        **{"length": "short", "sources": ["web"], "published_from": "1850-01-01", "tools_that_write": ["shop.order"]},
    }
    assert app.query_params["run"] == next(iter(api.runs))
    assert "At work" in shown(app) or "Waiting to start" in shown(app)


def test_an_example_fills_the_question(open_page: OpenPage) -> None:
    app = open_page("ask")
    app.pills(key="example").set_value(app.pills(key="example").options[0]).run()
    assert app.text_area(key="question").value == QUESTION


def test_an_empty_question_shows_the_reason(api: FakeApi, open_page: OpenPage) -> None:
    app = open_page("ask")
    app.button(key="start").click().run()
    assert "Write what you want to know" in shown(app)
    assert (api.runs, api.commands()) == ({}, [])
    assert [block.value for block in app.main.markdown] == [], "nothing else was put there"


def test_an_api_that_is_gone_is_explained_on_every_page(
    api: FakeApi, open_page: OpenPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RUBRICA_API_URL", "http://127.0.0.1:9")
    for page in ("ask", "watch", "read", "history", "source"):
        assert "The API cannot be reached" in shown(open_page(page, run="x", n="1"))


def test_the_wrong_key_of_ones_own_page_is_told_before_the_form(
    api: FakeApi, open_page: OpenPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RUBRICA_API_KEY", "rbk_revoked")
    api.fail("/v1/runs", 401, "Not signed in", "no such key")
    html = shown(open_page("ask"))
    assert html.index("No such key.") < html.index("RUBRICA_API_KEY must be a key of this API.") < html.index("Searches")
    assert "/sign-in" not in html


def test_what_is_not_allowed_says_once_who_can_change_that(api: FakeApi, open_page: OpenPage) -> None:
    api.fail("/v1/runs", 403, "Not allowed", "this needs runs:read; an owner of your organisation can change that")
    assert shown(open_page("history")).count("owner") == 1


def test_watching_shows_the_plan_the_sources_and_the_log(api: FakeApi, open_page: OpenPage) -> None:
    run = add_searching_run(api)
    html = shown(caught_up(open_page("watch", run=run.id), len(run.events)))
    for expected in ("Protection of manufactures", "after 1, 2", "James Monroe, 1822", "45.1k", "of 200k", "$0.0610"):
        assert expected in html, expected
    assert "asked stub: planning (5,400 tokens)" in html


def test_a_finished_run_shows_its_whole_log_at_once(api: FakeApi, open_page: OpenPage) -> None:
    run = add_finished_run(api)
    app = caught_up(open_page("watch", run=run.id), len(run.events))
    assert not [button for button in app.button if button.key in ("pause", "cancel")]


def test_pause_then_finish(api: FakeApi, open_page: OpenPage) -> None:
    run = add_searching_run(api)
    app = open_page("watch", run=run.id)
    app.button(key="pause").click().run().run()
    assert "Paused" in shown(app)
    app.button(key="finish").click().run()
    assert [(name, body) for _, name, body in api.commands()] == [("pause", None), ("resume", {"finish": True})]


def test_at_the_budget_one_can_continue_with_more(api: FakeApi, open_page: OpenPage) -> None:
    run = add_searching_run(api)
    run.emit("status_changed", {"status": "budget_reached", "detail": "200,000 tokens are used"})
    app = open_page("watch", run=run.id)
    assert "200,000 tokens are used" in shown(app)
    app.button(key="raise").click().run()
    doubled = {"max_tokens": 400_000, "max_cost_microusd": 1_000_000, "max_seconds": 1_200}
    assert [(name, body) for _, name, body in api.commands()] == [("budget", doubled), ("resume", {"finish": False})]


def test_the_limits_on_the_form_are_those_of_this_run_as_they_stand(api: FakeApi, open_page: OpenPage) -> None:
    run, other = add_searching_run(api), api.add(FakeRun("Which duties?", budget={"max_tokens": 7_000}))
    app = open_page("watch", run=run.id)
    assert limit_of(app).value == 200_000
    limit_of(app).set_value(300_000).run()
    run.fields["budget"] = {"max_tokens": 9_000}
    run.emit("warning", {"message": "somebody else lowered the limit"})
    while limit_of(app.run()).value == 300_000:
        pass
    app.button(key="set_budget").click().run()
    app.query_params["run"] = other.id
    app.run().button(key="set_budget").click().run()
    none = {"max_cost_microusd": None, "max_seconds": None}
    assert [body for _, _, body in api.commands()] == [none | {"max_tokens": 9_000}, none | {"max_tokens": 7_000}]


def limit_of(app: AppTest) -> NumberInput:
    return next(field for field in app.number_input if str(field.key).endswith("_tokens"))


def test_a_plan_that_changed_meanwhile_is_not_overruled(api: FakeApi, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUBRICA_API_URL", api.url)
    run = api.add(FakeRun("Which duties?", plan=PLAN | {"revision": 4}))
    api.answer("PUT", f"/v1/runs/{run.id}/plan", lambda *_: (412, "the plan is at revision 5"))

    def form(url: str, run: str) -> None:
        from rubrica_client import runs
        from ui.components import controls
        from ui.session import open_client

        client = open_client(url, {})
        asked = client.send(runs.get(run))
        assert asked.plan
        controls._revise_plan(client, asked, asked.plan)

    app = AppTest.from_function(form, args=(api.url, run.id), default_timeout=PATIENCE_S).run()
    app.button(key=f"plan_{run.id}_save").click().run()
    assert api.matched == ['"plan-4"']
    html = shown(app)
    assert "Changed in the meantime" in html
    assert "Reload the page to see how it stands now" in html


def test_a_model_that_refuses_is_named_and_the_run_goes_on_or_finishes(api: FakeApi, open_page: OpenPage) -> None:
    run = add_searching_run(api)
    run.emit("status_changed", {"status": "paused", "reason": "model_refused", "detail": "401: no such <key>"})
    app = open_page("watch", run=run.id)
    assert "The language model refuses every request" in shown(app)
    assert "401: no such &lt;key&gt;" in shown(app)
    app.button(key="resume").click().run()
    assert [(name, body) for _, name, body in api.commands()] == [("resume", {"finish": False})]


def test_a_run_whose_model_is_gone_may_take_the_present_one(api: FakeApi, open_page: OpenPage) -> None:
    run = add_searching_run(api)
    run.emit("status_changed", {"status": "paused", "reason": "model_refused", "detail": "the model 'v1' is gone"})
    open_page("watch", run=run.id).button(key="present_models").click().run()
    assert [(name, body) for _, name, body in api.commands()] == [("resume", {"finish": False, "present_models": True})]


def test_a_long_wait_for_the_model_offers_to_go_on_without_it(api: FakeApi, open_page: OpenPage) -> None:
    run = add_searching_run(api)
    run.emit("waiting", {"what": "model", "detail": "429", "retry_in_s": 3_000, "options": ["wait", "finish"]}, "search/s1")
    run.fields["reason"] = "model_busy"
    app = open_page("watch", run=run.id)
    while "429 (next try in 50 min)" not in shown(app):
        app.run()
    app.button(key="without_model").click().run()
    assert [(name, body) for _, name, body in api.commands()] == [("resume", {"finish": True})]


def test_a_note_is_sent(api: FakeApi, open_page: OpenPage) -> None:
    run = add_searching_run(api)
    app = open_page("watch", run=run.id)
    app.chat_input[0].set_value("  look at 1846 ").run()
    assert api.commands() == [("POST", "notes", {"text": "look at 1846"})]


def test_a_refused_command_shows_the_problem(api: FakeApi, open_page: OpenPage) -> None:
    run = add_searching_run(api)
    api.fail("/pause", 409, "Conflict", "the run has just finished")
    app = open_page("watch", run=run.id)
    app.button(key="pause").click().run()
    assert "The run has just finished." in shown(app)


def test_losing_the_api_while_watching_keeps_what_was_known(api: FakeApi, open_page: OpenPage) -> None:
    run = add_searching_run(api)
    app = open_page("watch", run=run.id)
    api.fail(run.id, 503, "Service unavailable", "the database restarts")
    html = shown(app.run())
    assert "The database restarts." in html


def test_a_run_that_does_not_exist(open_page: OpenPage) -> None:
    html = shown(open_page("watch", run="nothing"))
    assert "No run has this id." in html
    assert "look for the run in the history" in html


def test_no_run_chosen(open_page: OpenPage) -> None:
    for page in ("watch", "read", "side_by_side", "source"):
        app = open_page(page)
        assert "Nothing is open here" in shown(app)
        assert [link.label for link in app.main.get("page_link")] == ["What do you want to know?", "History"]


def test_reading_shows_the_report_with_its_quotes(api: FakeApi, open_page: OpenPage) -> None:
    run = add_finished_run(api)
    app = open_page("read", run=run.id)
    assert 'data-cite="1"' in shown(app)
    formats = [button.label for button in app.download_button]
    assert formats == ["PDF", "Word", "HTML", "Markdown", "LaTeX", "JSON", "BibTeX", "RIS", "CSL-JSON"]


def test_a_report_that_is_not_there_yet_is_no_error(api: FakeApi, open_page: OpenPage) -> None:
    html = shown(open_page("read", run=add_searching_run(api).id))
    assert "not written yet" in html
    assert 'role="alert"' not in html


def test_a_citation_opens_in_the_stored_source(api: FakeApi, open_page: OpenPage) -> None:
    run = add_finished_run(api)
    assert f"<mark>{QUOTE}</mark>" in shown(open_page("source", run=run.id, n="1"))
    assert "has no citation 77" in shown(open_page("source", run=run.id, n="77"))


def test_history_lists_runs_newest_first_and_goes_on(api: FakeApi, open_page: OpenPage) -> None:
    for number in range(23):
        api.add(FakeRun(f"Question *{number}*"))
    app = open_page("history")
    listed = [link.label for link in app.main if link.type == "page_link"] or [link.label for link in app.main.get("page_link")]
    assert len([label for label in listed if "Question" in label]) == 20
    assert "Question \\*22\\*" in listed[0]
    assert listed[-1] == "Older"


def test_history_is_searched_and_the_address_keeps_the_words(api: FakeApi, open_page: OpenPage) -> None:
    for question in ("About tariffs", "About treaties"):
        api.add(FakeRun(question))
    app = open_page("history")
    app.text_input(key="q").set_value("tariffs").run()
    listed = [link.label for link in app.main.get("page_link")]
    assert listed == ["About tariffs"]
    app.text_input(key="q").set_value("<b>nowhere").run()
    assert "No question and no report has all of these words: &lt;b&gt;nowhere" in shown(app)


def test_history_is_narrowed_and_the_older_part_stays_narrow(api: FakeApi, open_page: OpenPage) -> None:
    for number in range(200):
        api.add(FakeRun(f"Question {number}", status="completed" if number % 2 else "running"))
    app = open_page("history")
    app.selectbox(key="history_phase").set_value("completed").run()
    assert "".join(app.query_params["phase"]) == "completed"
    labels = [link.label for link in app.main.get("page_link")]
    assert labels[:2] == ["Question 199", "Question 197"]
    assert labels[-1] == "Older"
    again = open_page("history", phase="completed", q="Question 3")
    assert again.selectbox(key="history_phase").value == "completed", "the address brings it back"
    none = open_page("history", phase="under_way", q="nowhere")
    assert "No run fits" in shown(none)


def test_a_run_is_deleted_after_a_question(api: FakeApi, open_page: OpenPage) -> None:
    run, other = add_finished_run(api), add_searching_run(api)
    app = open_page("history")
    app.button(key=f"delete_{run.id}").click().run()
    assert api.commands() == [], "asked first"
    assert "for good" in "".join(block.value for block in app.markdown)
    api.fail(run.id, 409, "Not possible now", "the schedule 'Weekly' compares with it")
    app.button(key="delete_run").click().run()
    assert "The schedule &#x27;Weekly&#x27; compares with it." in shown(app)
    api.failures.clear()
    api.answer("DELETE", f"/v1/runs/{run.id}", lambda *_: api.runs.pop(run.id).fields)
    app.button(key="delete_run").click().run()
    assert [link.label for link in app.main.get("page_link")] == [other.fields["query"]["question"]]
    assert not [button for button in app.button if button.key == f"delete_{other.id}"], "it is under way"


def test_the_pages_are_not_in_a_folder_that_streamlit_would_serve_by_itself() -> None:
    assert not (Path(__file__).parents[2] / "ui" / "pages").exists()
