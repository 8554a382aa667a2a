"""The client against a real socket: parsing, problems, silence and absence."""

from datetime import timedelta

import pytest

from tests.ui.fake_api import FakeApi, FakeRun
from tests.ui.stories import QUESTION, SNAPSHOT, SPEECH, finished, searching
from ui.api_client import ApiClient, ApiProblem
from ui.components.problem import problem_html
from ui.models import Budget, NewRun


def test_a_question_becomes_a_run_with_only_the_options_that_were_chosen(api: FakeApi) -> None:
    run = ApiClient(api.url).start_run(NewRun(question=QUESTION, effort="quick"))
    assert run.query.question == QUESTION
    assert api.received[-1] == ("POST", "/v1/runs", {"question": QUESTION, "effort": "quick"})


def test_a_refused_question_says_why_and_what_to_do(api: FakeApi) -> None:
    with pytest.raises(ApiProblem) as caught:
        ApiClient(api.url).start_run(NewRun(question=" "))
    assert caught.value.status == 400
    assert caught.value.detail == "the question is empty; write what you want to know"
    assert "Change what you sent and try again." in problem_html(caught.value)


def test_an_absent_api_is_named_together_with_the_way_to_start_it() -> None:
    with pytest.raises(ApiProblem) as caught:
        ApiClient("http://127.0.0.1:9").runs()
    assert caught.value.title == "The API cannot be reached"
    assert "http://127.0.0.1:9" in caught.value.detail
    assert "make up" in problem_html(caught.value)


def test_a_slow_api_is_not_waited_for_for_ever(api: FakeApi) -> None:
    api.delay = 5.0
    with pytest.raises(ApiProblem, match="did not answer in time"):
        ApiClient(api.url, timeout=timedelta(seconds=0.2)).runs()


def test_a_server_of_another_kind_is_recognised(api: FakeApi) -> None:
    run = api.add(FakeRun(QUESTION))
    del run.fields["query"]
    with pytest.raises(ApiProblem, match="cannot read"):
        ApiClient(api.url).run(run.id)


def test_an_error_that_is_no_problem_document_still_has_a_title(api: FakeApi) -> None:
    api.failures["/runs"] = (502, {})
    with pytest.raises(ApiProblem) as caught:
        ApiClient(api.url).runs()
    assert (caught.value.title, caught.value.status) == ("Bad Gateway", 502)


def test_runs_come_in_pages(api: FakeApi) -> None:
    for number in range(5):
        api.add(FakeRun(f"question {number}"))
    client = ApiClient(api.url)
    first = client.runs(limit=3)
    second = client.runs(limit=3, before=first.next)
    assert [run.query.question[-1] for run in (*first.items, *second.items)] == ["4", "3", "2", "1", "0"]
    assert second.next is None


def test_events_arrive_as_they_happen_and_after_the_last_one_seen(api: FakeApi) -> None:
    run = finished(api)
    events = [event for event in ApiClient(api.url).events(run.id, after=10) if event]
    assert [event.seq for event in events] == list(range(11, len(run.events) + 1))


def test_a_heartbeat_is_told_apart_from_an_event(api: FakeApi) -> None:
    run = api.add(FakeRun(QUESTION))
    assert next(ApiClient(api.url).events(run.id, after=0)) is None


def test_the_report_its_files_and_its_sources_can_be_fetched(api: FakeApi) -> None:
    run, client = finished(api), ApiClient(api.url)
    assert [citation.n for citation in client.report(run.id).citations] == [1, 2]
    assert client.export(run.id, "docx") == b"%docx"
    assert client.snapshot(SNAPSHOT) == SPEECH


def test_commands_reach_the_api(api: FakeApi) -> None:
    run, client = searching(api), ApiClient(api.url)
    client.pause(run.id)
    client.resume(run.id, finish=True)
    client.add_note(run.id, "look at 1846")
    client.set_budget(run.id, Budget(max_tokens=1_000))
    client.cancel(run.id)
    assert api.commands() == [
        ("POST", "pause", None),
        ("POST", "resume", {"finish": True}),
        ("POST", "notes", {"text": "look at 1846"}),
        ("PUT", "budget", {"max_tokens": 1_000, "max_cost_microusd": None, "max_seconds": None}),
        ("POST", "cancel", None),
    ]


def test_who_is_not_signed_in_any_more_is_led_to_the_form() -> None:
    told = problem_html(ApiProblem("Unauthenticated", "you are not signed in any more", 401))
    assert '<a href="/sign-in">Sign in</a>' in told
    assert "sign-in" not in problem_html(ApiProblem("Forbidden", "not yours", 403))
