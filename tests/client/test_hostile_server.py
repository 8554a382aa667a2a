"""Both clients against a server that cuts, refuses, fails, dawdles and answers nonsense."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from rubrica_client import Patience, documents, errors, reports, runs
from rubrica_client.models import NewRun
from rubrica_client.patience import NONE
from tests.client.hostile_server import (
    LONG,
    QUICK,
    RUN,
    EitherClient,
    LoopClient,
    ThreadClient,
    make_answer,
    make_frame,
    make_problem,
    make_run_answer,
    make_stream,
    serve_hostile,
)

Make = Callable[[str], EitherClient]
BROKEN = b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{"
REPORT = {
    "run_id": "r1",
    "question": "Why?",
    "status": "completed",
    "title": "Why",
    "markdown": "So [1].",
    "html": "",
    "citations": [{"n": 1, "quote": "So", "start": 0, "end": 2, "source": {"title": "t", "url": "u", "snapshot": "s", "new": 1}}],
    "claims": [],
    "notices": [],
    "usage": {},
    "created_at": "2026-11-20T15:00:00Z",
    "a_field_of_tomorrow": {"is": "new"},
}


@pytest.fixture(params=[LoopClient, ThreadClient], ids=["async", "sync"])
def kind(request: pytest.FixtureRequest) -> Any:
    return request.param


def make(kind: Any, address: str, patience: Patience = QUICK, timeout: timedelta = LONG) -> EitherClient:
    client: EitherClient = kind(address, patience, timeout)
    return client


async def test_a_read_whose_answer_was_cut_is_sent_again(kind: Any) -> None:
    async with serve_hostile(BROKEN, b"", make_run_answer()) as server:
        assert (await make(kind, server.address).send(runs.get("r1"))).id == "r1"
    assert server.list_request_lines() == ["GET /v1/runs/r1"] * 3


async def test_a_creating_call_is_repeated_under_one_key(kind: Any) -> None:
    async with serve_hostile(b"", make_answer("201 Created", RUN)) as server:
        await make(kind, server.address).send(runs.create(NewRun(question="Why?")))
    first, second = server.list_headers("idempotency-key")
    assert first == second
    assert len(first) == 36


async def test_a_repeated_call_waits_for_the_first_to_be_carried_out(kind: Any) -> None:
    told = {"type": errors.IN_PROGRESS, "title": "Being carried out", "status": 409, "detail": "wait for it"}
    async with serve_hostile(b"", make_answer("409 Conflict", told), make_answer("201 Created", RUN)) as server:
        assert (await make(kind, server.address).send(runs.create(NewRun(question="Why?")))).id == "r1"
    assert len(server.received) == 3


async def test_what_changes_something_without_a_key_is_sent_once(kind: Any) -> None:
    async with serve_hostile(b"") as server:
        with pytest.raises(errors.Unreachable, match=f"the API at {server.address} does not answer: "):
            await make(kind, server.address).send(runs.pause("r1"))
    assert server.list_request_lines() == ["POST /v1/runs/r1/pause"]


async def test_retry_after_is_obeyed_whatever_was_refused(kind: Any) -> None:
    slow_down = make_problem(429, "Too many requests", "60 requests a minute are allowed", Retry_After="1")
    async with serve_hostile(slow_down, make_answer("202 Accepted", RUN)) as server:
        assert (await make(kind, server.address).send(runs.pause("r1"))).id == "r1"
    assert len(server.received) == 2


async def test_a_wait_longer_than_the_patience_is_left_to_the_caller(kind: Any) -> None:
    async with serve_hostile(make_problem(429, "Too many requests", "the month is used up", Retry_After="3600")) as server:
        with pytest.raises(errors.TooManyRequests, match="the month is used up") as refused:
            await make(kind, server.address).send(runs.get("r1"))
    assert refused.value.retry_after == timedelta(hours=1)
    assert len(server.received) == 1


async def test_an_outage_is_waited_out_and_a_long_one_is_told(kind: Any) -> None:
    away = make_problem(503, "Unavailable", "the database does not answer; repeat the request")
    async with serve_hostile(away, away, make_run_answer()) as server:
        assert (await make(kind, server.address).send(runs.get("r1"))).status == "running"
    async with serve_hostile(away) as server:
        with pytest.raises(errors.Unavailable, match=r"the API failed \(503\): the database does not answer"):
            await make(kind, server.address, NONE).send(runs.get("r1"))


async def test_a_failure_of_the_server_is_not_repeated(kind: Any) -> None:
    async with serve_hostile(make_answer("500 Internal Server Error", b"<html>oops</html>", Content_Type="text/html")) as server:
        with pytest.raises(errors.ServerError, match=r"the API failed \(500\): Internal Server Error; its log says more"):
            await make(kind, server.address).send(runs.get("r1"))
    assert len(server.received) == 1


async def test_a_proxys_page_is_no_problem_document_and_still_an_error_of_its_status(kind: Any) -> None:
    async with serve_hostile(make_answer("404 Not Found", b"<html>nothing here</html>", Content_Type="text/html")) as server:
        with pytest.raises(errors.NotFound, match="Not Found"):
            await make(kind, server.address).send(runs.get("r1"))


@pytest.mark.parametrize("body", [b"<html>a captive portal</html>", b"[]", b'{"id": 1}', b"\xff\xfe"])
async def test_an_answer_of_another_kind_is_named_as_such(kind: Any, body: bytes) -> None:
    async with serve_hostile(make_answer("200 OK", body)) as server:
        with pytest.raises(errors.Unreadable):
            await make(kind, server.address).send(runs.get("r1"))


async def test_a_redirection_is_not_taken_for_an_answer(kind: Any) -> None:
    async with serve_hostile(make_answer("302 Found", b"", Location="http://127.0.0.1:9/elsewhere")) as server:
        with pytest.raises(errors.ApiError) as refused:
            await make(kind, server.address).send(runs.delete("r1"))
    assert refused.value.status == 302


async def test_silence_ends_in_time(kind: Any) -> None:
    async with serve_hostile(make_run_answer()) as server:
        server.delay = 3
        with pytest.raises(errors.TimedOut):
            await make(kind, server.address, NONE, timedelta(seconds=0.2)).send(runs.get("r1"))


async def test_nothing_listens(kind: Any) -> None:
    with pytest.raises(errors.Unreachable) as refused:
        await make(kind, "http://127.0.0.1:9", NONE).send(runs.get("r1"))
    assert refused.value.detail == "http://127.0.0.1:9"


async def test_a_cut_stream_goes_on_behind_the_last_event(kind: Any) -> None:
    finish = make_frame(4, "status_changed", status="completed")
    half = make_frame(3)[:-20]
    async with serve_hostile(
        make_stream([make_frame(1), make_frame(2), half], ended=False),
        b"",
        make_problem(503, "Unavailable", "starting"),
        make_stream([make_frame(2), make_frame(3)]),
        make_run_answer("completed", last_seq=4),
        make_stream([finish]),
        make_run_answer("completed", last_seq=4),
    ) as server:
        events = await make(kind, server.address).events("r1")
    assert [event.seq for event in events] == [1, 2, 3, 4]
    assert server.list_headers("last-event-id") == ["0", "2", "2", "2", "3"]


async def test_a_stream_that_is_none_is_named_as_such(kind: Any) -> None:
    async with serve_hostile(make_answer("200 OK", b"{}")) as server:
        with pytest.raises(errors.Unreadable):
            await make(kind, server.address).events("r1")


async def test_a_refused_stream_ends_the_watching(kind: Any) -> None:
    async with serve_hostile(make_problem(401, "Unauthenticated", "this key was revoked")) as server:
        with pytest.raises(errors.Unauthenticated, match="this key was revoked"):
            await make(kind, server.address).events("r1")
    assert len(server.received) == 1


async def test_an_event_of_a_kind_that_is_not_known_yet_is_passed_on(kind: Any) -> None:
    last = make_frame(2, "status_changed", status="completed")
    async with serve_hostile(
        make_stream([make_frame(1, "sung_aloud", song="la"), last]), make_run_answer("completed", last_seq=2)
    ) as server:
        first, _ = await make(kind, server.address).events("r1")
    assert (first.type, first.payload["song"]) == ("sung_aloud", "la")


async def test_an_api_that_stays_away_is_given_up(kind: Any) -> None:
    async with serve_hostile(make_stream([make_frame(1)], ended=False), b"") as server:
        with pytest.raises(errors.Unreachable):
            await make(kind, server.address, Patience(timedelta(seconds=2), timedelta(seconds=0.1))).events("r1")
    assert len(server.received) >= 3


async def test_the_report_is_waited_for(kind: Any) -> None:
    parked, finish = make_frame(1, "status_changed", status="paused"), make_frame(3, "status_changed", status="completed")
    async with serve_hostile(
        make_stream([parked, make_frame(2), finish]),
        make_run_answer("completed", last_seq=3),
        make_run_answer("completed", last_seq=3),
        make_run_answer("completed", last_seq=3),
        make_run_answer("completed", last_seq=3),
        make_answer("200 OK", REPORT),
    ) as server:
        found = await make(kind, server.address).wait_for_report("r1")
    assert (found.markdown, found.citations[0].quote) == ("So [1].", "So")


@pytest.mark.parametrize("status", ["paused", "budget_reached", "awaiting_approval", "failed", "cancelled"])
async def test_a_report_that_does_not_come_is_told(kind: Any, status: str) -> None:
    async with serve_hostile(
        make_stream([make_frame(1, "status_changed", status=status)]), make_run_answer(status, last_seq=1)
    ) as server:
        with pytest.raises(errors.RunStopped, match=f"run r1 is {status}") as stopped:
            await make(kind, server.address).wait_for_report("r1")
    assert stopped.value.status_of_run == status


async def test_the_key_goes_with_every_request_and_text_is_text(kind: Any) -> None:
    async with serve_hostile(make_answer("200 OK", "Ça va.".encode(), Content_Type="text/plain")) as server:
        client = make(kind, server.address)
        assert await client.send(reports.snapshot("s")) == "Ça va."
    assert server.list_headers("authorization") == ["Bearer rbk_test"]


async def test_what_was_not_said_is_not_sent(kind: Any) -> None:
    async with serve_hostile(make_answer("200 OK", {"items": []})) as server:
        await make(kind, server.address).send(documents.collections())
    assert server.list_request_lines() == ["GET /v1/collections"]
    assert runs.create(NewRun(question="Why?")).options()["content"] == b'{"question":"Why?"}'


@pytest.mark.parametrize("wanted", ["../me/export?x=", "../keys/ID", "r1/../../keys", "r1?x=", "%2e%2e"])
async def test_an_id_that_is_none_is_refused_before_anything_is_sent(kind: Any, wanted: str) -> None:
    async with serve_hostile(make_run_answer()) as server:
        client = make(kind, server.address)
        for call in (runs.get, runs.delete, reports.markdown, reports.snapshot):
            with pytest.raises(errors.NotFound, match="is no id"):
                await client.send(call(wanted))
        with pytest.raises(errors.NotFound, match="is no id"):
            await client.events(wanted)
        with pytest.raises(errors.NotFound, match="is no id"):
            await client.wait_for_report(wanted)
    assert not server.received
