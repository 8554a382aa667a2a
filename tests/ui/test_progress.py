"""Folding the log into what a watcher sees."""

from dataclasses import replace
from datetime import timedelta

from rubrica_client.models import ResearchPlan, RunEvent
from tests.ui.example_runs import QUESTION, add_searching_run
from tests.ui.fake_api import START, FakeApi, FakeRun
from ui.agent_names import name_agent
from ui.components.plan_tree import measure_depths, plan_html
from ui.components.run_activity import agents_html, notices_html
from ui.progress import WatchedProgress, fold_events, stage_of


def progress_of(run: FakeRun) -> WatchedProgress:
    return fold_events(RunEvent.model_validate(event) for event in run.events)


def test_each_subtask_is_in_its_own_state(api: FakeApi) -> None:
    progress = progress_of(add_searching_run(api))
    states = {stage: progress.find_stage(f"search/{stage}").state for stage in ("s1", "s2", "s3")}
    assert states == {"s1": "done", "s2": "running", "s3": "waiting"}
    assert progress.find_stage("plan").state == "done"
    assert progress.find_stage("search/s1").quotes == 3


def test_sources_are_told_once_with_how_often_they_came_up(api: FakeApi) -> None:
    sources = progress_of(add_searching_run(api)).sources
    assert [(source.title, source.times) for source in sources.values()] == [
        ("Andrew Jackson, Annual Message, 8 December 1829", 2),
        ("James Monroe, 1822", 1),
    ]


def test_a_failed_search_looks_failed_and_says_why(api: FakeApi) -> None:
    run = add_searching_run(api)
    run.emit("stage_finished", {"stage": "search/s2", "stop": "failed", "detail": "the model refused", "quotes": 0, "sources": 0})
    html = plan_html(progress_of(run), still=False)
    assert progress_of(run).find_stage("search/s2").state == "failed"
    assert "the model refused" in html


def test_a_retry_of_a_stage_is_running_again(api: FakeApi) -> None:
    run = add_searching_run(api)
    run.emit("stage_started", {"stage": "search/s1", "title": "again"})
    assert progress_of(run).find_stage("search/s1").state == "running"


def test_a_wait_is_shown_until_the_next_call(api: FakeApi) -> None:
    run = add_searching_run(api)
    run.emit("waiting", {"what": "model", "detail": "the model server answers 429", "retry_in_s": 12.4})
    assert "the model server answers 429 (next try in 12 s)" in notices_html(progress_of(run))
    run.emit("model_call", {"step": "act", "model": "m", "input_tokens": 1, "output_tokens": 1}, "search/s2")
    assert notices_html(progress_of(run)) == ""


def test_warnings_are_one_folded_line(api: FakeApi) -> None:
    run = add_searching_run(api)
    before = len(progress_of(run).warnings)
    for message in ("one <source> was withheld", "a search service did not answer"):
        run.emit("warning", {"message": message})
    shown = notices_html(progress_of(run))
    line, _, folded = shown.partition("</summary>")
    assert line.endswith(f"a search service did not answer (+{before + 1})")
    assert "one &lt;source&gt; was withheld" in folded
    assert shown.count("<details") == 1
    assert " open" not in line


def test_a_silent_model_is_told_in_words(api: FakeApi) -> None:
    run = add_searching_run(api)
    run.emit("waiting", {"what": "model", "detail": "…", "retry_in_s": 220.0, "silent_s": 20}, "search/s2")
    shown = notices_html(progress_of(run))
    assert "sent nothing for 20 s" in shown
    assert "220 s more" in shown


def test_a_call_that_was_given_up_is_its_agents_own(api: FakeApi) -> None:
    run = add_searching_run(api)
    before = set(progress_of(run).agents)
    run.emit("model_call", {"step": "given_up", "model": "m", "input_tokens": 9, "output_tokens": 0}, "search/s2/given_up")
    after = progress_of(run)
    assert set(after.agents) == before | {"search/s2"}
    assert name_agent("search/s2/given_up", after) == name_agent("search/s2", after)


def test_unknown_events_are_passed_over() -> None:
    run = FakeRun(QUESTION)
    run.emit("something_new", {"a": 1})
    assert replace(progress_of(run), last_at=None) == WatchedProgress(), "only that something was heard is kept"


def test_section_writers_belong_to_the_report() -> None:
    assert [stage_of(path) for path in ("plan", "search/s2", "search/s2/judge", "report/section/3")] == [
        "plan",
        "search/s2",
        "search/s2",
        "report",
    ]


def test_what_may_run_in_parallel_has_the_same_depth() -> None:
    plan = ResearchPlan.model_validate(
        {
            "subtasks": [
                {"id": "a", "title": "a", "question": "Why?", "depends_on": ["c"]},
                {"id": "b", "title": "b", "question": "Why?"},
                {"id": "c", "title": "c", "question": "Why?", "depends_on": ["b"]},
                {"id": "d", "title": "d", "question": "Why?"},
            ]
        }
    )
    assert measure_depths(plan) == {"b": 0, "d": 0, "c": 1, "a": 2}


def test_what_comes_from_outside_is_text_and_never_markup(api: FakeApi) -> None:
    html = plan_html(progress_of(add_searching_run(api)), still=False)
    assert "<b>domestic</b>" not in html
    assert "&lt;b&gt;domestic&lt;/b&gt;" in html


def test_working_time_leaves_pauses_out() -> None:
    run = FakeRun(QUESTION)
    for status in ("running", "paused", "running"):
        run.emit("status_changed", {"status": status})
    times = [RunEvent.model_validate(event).at for event in run.events]
    later = times[2] + timedelta(seconds=5)
    assert progress_of(run).working_time_until(later) == (times[1] - times[0]) + timedelta(seconds=5)


def test_reading_on_comes_to_the_same_as_reading_anew(api: FakeApi) -> None:
    run = add_searching_run(api)
    events = [RunEvent.model_validate(event) for event in run.events]
    for cut in range(len(events)):
        assert fold_events(events[cut:], fold_events(events[:cut])) == fold_events(events)


def test_agents_at_work_are_those_whose_stage_is_open(api: FakeApi) -> None:
    run = add_searching_run(api)
    run.emit("model_call", {"step": "section", "model": "m"}, "report/section/3")
    shown = agents_html(progress_of(run), START + timedelta(minutes=10))
    assert "Protection of manufactures" in shown
    assert "The first revenue tariffs" not in shown
    assert "writing a section" in shown
    run.emit("status_changed", {"status": "paused"})
    assert agents_html(progress_of(run), START) == ""
