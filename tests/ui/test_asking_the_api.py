"""What the page makes of the client and its errors: over a real socket, with the words that a visitor reads."""

from datetime import timedelta

import pytest

from rubrica_client import ApiError, Client, runs
from rubrica_client.errors import BrokenOff, Forbidden, Unauthenticated
from rubrica_client.models import Effort, NewRun
from rubrica_client.patience import NONE
from tests.ui.example_runs import QUESTION
from tests.ui.fake_api import FakeApi, FakeRun
from ui.components.problem import kind_of, problem_html
from ui.session import open_client


def test_a_question_becomes_a_run_with_only_the_options_that_were_chosen(api: FakeApi) -> None:
    run = open_client(api.url, {}).send(runs.create(NewRun(question=QUESTION, effort=Effort.QUICK)))
    assert run.query.question == QUESTION
    assert api.received[-1] == ("POST", "/v1/runs", {"question": QUESTION, "effort": "quick"})


def test_a_refused_question_says_why_and_what_to_do(api: FakeApi) -> None:
    with pytest.raises(ApiError) as caught:
        open_client(api.url, {}).send(runs.create(NewRun(question=" ")))
    assert caught.value.status == 400
    assert caught.value.detail == "the question is empty; write what you want to know"
    assert "Change what you sent and try again." in problem_html(caught.value)


def test_an_absent_api_is_named_and_only_its_owner_is_told_a_command(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ApiError) as caught:
        open_client("http://127.0.0.1:9", {}).send(runs.list_())
    monkeypatch.delenv("RUBRICA_API_KEY", raising=False)
    assert "The API cannot be reached" in problem_html(caught.value)
    assert "http://127.0.0.1:9" in problem_html(caught.value)
    assert "make up" not in problem_html(caught.value)
    monkeypatch.setenv("RUBRICA_API_KEY", "rk_own")
    assert "make up" in problem_html(caught.value)


def test_a_slow_api_is_not_waited_for_for_ever(api: FakeApi) -> None:
    api.delay = 1.0
    with pytest.raises(ApiError) as caught:
        Client(api.url, timeout=timedelta(seconds=0.2), patience=NONE, trust_env=False).send(runs.list_())
    assert kind_of(caught.value) == "timeout"


def test_a_server_of_another_kind_is_recognised(api: FakeApi) -> None:
    run = api.add(FakeRun(QUESTION))
    del run.fields["query"]
    with pytest.raises(ApiError) as caught:
        open_client(api.url, {}).send(runs.get(run.id))
    assert "cannot read" in problem_html(caught.value)


def test_an_error_that_is_no_problem_document_still_has_a_title(api: FakeApi) -> None:
    api.failures["/runs"] = (502, {})
    with pytest.raises(ApiError) as caught:
        open_client(api.url, {}).send(runs.list_())
    assert (caught.value.title, caught.value.status) == ("Bad Gateway", 502)


def test_a_stream_that_breaks_is_told_apart_from_an_api_that_is_away(api: FakeApi) -> None:
    run = api.add(FakeRun(QUESTION))
    run.emit("run_created", {"question": QUESTION})
    run.emit("note_added", {"text": "later"})
    api.cut_stream_after = 1
    with pytest.raises(BrokenOff) as caught:
        list(open_client(api.url, {}).stream(run.id))
    assert kind_of(caught.value) == "stream"


def test_who_is_not_signed_in_any_more_is_led_to_the_form() -> None:
    told = problem_html(Unauthenticated("Unauthenticated", "you are not signed in any more", 401))
    assert '<a href="/sign-in">Sign in</a>' in told
    assert "sign-in" not in problem_html(Forbidden("Forbidden", "not yours", 403))
