"""The Responses façade, through OpenAI's own client."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import asyncpg
import openai
import pytest
from openai.types.responses import Response, ResponseStreamEvent
from pydantic import TypeAdapter

from app.domain.budget import Budget
from app.domain.contract import ResearchInput
from app.domain.query import SystemName
from app.domain.run import RunStatus, WaitReason
from app.http.services import Services, open_services
from app.runs.storage.run_log import RunLog
from tests.app.finished_run import URL, write_begin, write_end
from tests.app.served_api import ApiClient, InMemoryRuns, serve_api
from tests.support.accounts import HOME_KEY

MODEL = "minddr-quick"
EVENTS: TypeAdapter[Any] = TypeAdapter(ResponseStreamEvent)


@pytest.fixture
async def client(api: ApiClient) -> AsyncIterator[openai.AsyncOpenAI]:
    async with opened(api) as made:
        yield made


def opened(api: ApiClient) -> openai.AsyncOpenAI:
    return openai.AsyncOpenAI(base_url=f"{api.address}/openai/v1", api_key=str(HOME_KEY), max_retries=0)


def run_of(response: Response) -> UUID:
    return UUID(response.id.removeprefix("resp_"))


def strict(response: Response) -> Response:
    """The client takes whatever comes; this holds it against the client's own types."""
    return Response.model_validate_json(response.model_dump_json(warnings=False))


async def test_a_question_in_the_background_is_polled_to_a_cited_report(
    client: openai.AsyncOpenAI, run_log: RunLog, pool: asyncpg.Pool, workflows: InMemoryRuns
) -> None:
    asked = strict(await client.responses.create(model=MODEL, input="Why tariffs?", instructions="Be brief.", background=True))
    run_id = run_of(asked)
    assert (asked.status, asked.output, asked.model, asked.instructions) == ("in_progress", [], MODEL, "Be brief.")
    [started] = workflows.started
    assert (started.run_id, started.query.question, started.query.effort) == (run_id, "Why tariffs?", "quick")
    await write_begin(run_log, run_id)
    assert strict(await client.responses.retrieve(asked.id)).status == "in_progress"
    await write_end(pool, run_log, run_id)
    done = strict(await client.responses.retrieve(asked.id))
    assert (done.status, done.instructions, done.error) == ("completed", "Be brief.", None)
    assert done.usage is not None
    assert (done.usage.input_tokens, done.usage.output_tokens, done.usage.total_tokens) == (900, 100, 1_000)
    reasoning, message = done.output
    assert reasoning.type == "reasoning"
    lines = [part.text for part in reasoning.summary]
    assert lines == ["Plan: Tariffs\n- Revenue", "search: tariff (8 results)", "Note: one source was withheld"]
    assert message.type == "message"
    [text] = message.content
    assert text.type == "output_text"
    assert text.text == done.output_text
    assert text.text.startswith("# Tariffs ")
    marks = [text.text[cited.start_index : cited.end_index] for cited in text.annotations if cited.type == "url_citation"]
    assert marks == ["[1]", "[2]", "[1]"]
    assert {cited.url for cited in text.annotations if cited.type == "url_citation"} == {URL}


async def test_a_broken_stream_goes_on_exactly_where_it_broke_even_in_another_process(
    client: openai.AsyncOpenAI, services: Services, run_log: RunLog, pool: asyncpg.Pool
) -> None:
    stream = await client.responses.create(model=MODEL, input="Why tariffs?", background=True, stream=True)
    seen: list[Any] = []
    async for event in stream:
        seen.append(event)
        if event.type == "response.in_progress":
            break
    await stream.close()
    run_id = run_of(seen[0].response)
    await write_begin(run_log, run_id)
    working = asyncio.create_task(_later(pool, run_log, run_id))
    async with serve_api(services) as other, opened(other) as elsewhere:
        for hop in range(1_000):
            before = len(seen)
            again = await (elsewhere, client)[hop % 2].responses.retrieve(
                seen[0].response.id, stream=True, starting_after=seen[-1].sequence_number
            )
            async for event in again:
                seen.append(event)
                if len(seen) == before + 5:
                    break
            await again.close()
            if seen[-1].type == "response.completed":
                break
        await working
        whole = [event async for event in await client.responses.retrieve(seen[0].response.id, stream=True)]
    assert [event.sequence_number for event in seen] == list(range(len(seen)))
    assert [(event.type, getattr(event, "delta", "")) for event in seen] == [
        (event.type, getattr(event, "delta", "")) for event in whole
    ]
    for event in whole:
        EVENTS.validate_json(event.model_dump_json(warnings=False))
    _holds_together(whole, await client.responses.retrieve(seen[0].response.id))


async def _later(pool: asyncpg.Pool, run_log: RunLog, run_id: UUID) -> None:
    await asyncio.sleep(0.3)
    await write_end(pool, run_log, run_id)


def _holds_together(events: list[Any], polled: Response) -> None:
    """What was streamed is what is polled."""
    final = events[-1].response
    assert final.model_dump() == polled.model_dump()
    deltas = "".join(event.delta for event in events if event.type == "response.output_text.delta")
    assert deltas == polled.output_text
    added = [event.annotation for event in events if event.type == "response.output_text.annotation.added"]
    assert [cited["start_index"] if isinstance(cited, dict) else cited.start_index for cited in added] == [
        cited.start_index
        for cited in polled.output[1].content[0].annotations  # type: ignore[union-attr]
    ]
    items = [event.item for event in events if event.type == "response.output_item.done"]
    assert [item.model_dump() for item in items] == [item.model_dump() for item in polled.output]


async def test_without_background_the_answer_is_waited_for(
    client: openai.AsyncOpenAI, run_log: RunLog, pool: asyncpg.Pool, workflows: InMemoryRuns
) -> None:
    waiting = asyncio.create_task(client.responses.create(model="minddr", input=[{"role": "user", "content": "Why?"}]))
    run_id = await _first_started(workflows)
    await write_begin(run_log, run_id)
    await write_end(pool, run_log, run_id)
    done = strict(await waiting)
    assert (done.status, done.model) == ("completed", "minddr-standard")
    assert "principal source" in done.output_text


async def _first_started(workflows: InMemoryRuns) -> UUID:
    while not workflows.started:
        await asyncio.sleep(0.01)
    return workflows.started[0].run_id


async def test_cancelling(client: openai.AsyncOpenAI, run_log: RunLog, pool: asyncpg.Pool) -> None:
    asked = await client.responses.create(model=MODEL, input="Why?", background=True)
    for _ in range(2):
        assert strict(await client.responses.cancel(asked.id)).status == "cancelled"
    events = [event async for event in await client.responses.retrieve(asked.id, stream=True)]
    assert (events[-1].type, events[-1].response.status) == ("response.incomplete", "cancelled")  # type: ignore[union-attr]
    done = await client.responses.create(model=MODEL, input="Why?", background=True)
    await write_end(pool, run_log, run_of(done))
    with pytest.raises(openai.ConflictError, match="completed"):
        await client.responses.cancel(done.id)


async def test_ends_without_a_report(client: openai.AsyncOpenAI, run_log: RunLog) -> None:
    asked = await client.responses.create(model=MODEL, input="Why?", background=True)
    await run_log.set_status(run_of(asked), RunStatus.FAILED, "the index is gone")
    failed = strict(await client.responses.retrieve(asked.id))
    assert failed.status == "failed"
    assert failed.error is not None
    assert (failed.error.code, failed.error.message) == ("server_error", "the index is gone")
    events = [event async for event in await client.responses.retrieve(asked.id, stream=True)]
    assert events[-1].type == "response.failed"


async def test_a_spent_budget_is_incomplete_until_somebody_raises_it(
    client: openai.AsyncOpenAI, run_log: RunLog, pool: asyncpg.Pool, api: ApiClient
) -> None:
    asked = await client.responses.create(model=MODEL, input="Why?", background=True)
    run_id = run_of(asked)
    await run_log.set_status(run_id, RunStatus.BUDGET_REACHED, "money")
    poll = strict(await client.responses.retrieve(asked.id))
    assert poll.status == "incomplete"
    assert poll.incomplete_details is not None
    assert poll.incomplete_details.reason == "max_output_tokens"
    first = [event async for event in await client.responses.retrieve(asked.id, stream=True)]
    assert first[-1].type == "response.incomplete"
    await api.put(f"/v1/runs/{run_id}/budget", Budget(max_tokens=10_000).model_dump())
    await run_log.set_status(run_id, RunStatus.RUNNING)
    await write_end(pool, run_log, run_id)
    rest = await client.responses.retrieve(asked.id, stream=True, starting_after=first[-1].sequence_number)
    assert [event.type async for event in rest][-1] == "response.completed"


async def test_a_model_that_refuses_ends_the_wait_for_the_report(
    client: openai.AsyncOpenAI, run_log: RunLog, pool: asyncpg.Pool
) -> None:
    asked = await client.responses.create(model=MODEL, input="Why?", background=True)
    reason = WaitReason.MODEL_REFUSED
    await run_log.set_status(run_of(asked), RunStatus.PAUSED, "401: no such key", ("resume",), reason)
    poll = strict(await client.responses.retrieve(asked.id))
    assert poll.status == "incomplete"
    assert poll.error is not None
    assert poll.error.message == "401: no such key"
    events = [event async for event in await client.responses.retrieve(asked.id, stream=True)]
    assert events[-1].type == "response.incomplete"
    await run_log.set_status(run_of(asked), RunStatus.RUNNING)
    await write_end(pool, run_log, run_of(asked))
    whole = [event async for event in await client.responses.retrieve(asked.id, stream=True)]
    assert [event.type for event in whole[: len(events)]] == [event.type for event in events], "the pause is no longer told"
    rest = await client.responses.retrieve(asked.id, stream=True, starting_after=events[-1].sequence_number)
    assert [event async for event in rest] == whole[len(events) :]


async def test_what_must_not_be_kept_is_not_even_when_the_run_cannot_be_started(
    api_urls: tuple[str, str], pool: asyncpg.Pool
) -> None:
    @dataclass
    class BrokenStart(InMemoryRuns):
        async def start(self, request: ResearchInput) -> None:
            raise RuntimeError("the process dies here")

    messages = [{"role": "user", "content": "Why?"}]
    async with open_services(*api_urls, BrokenStart(RunLog(pool))) as services, serve_api(services) as api:
        for path, asked in (("responses", {"input": "Why?"}), ("chat/completions", {"messages": messages})):
            broken = await api.post(f"/openai/v1/{path}", {"model": MODEL, "store": False, **asked})
            assert broken.status == 500
            stored = await pool.fetchval("SELECT id FROM runs ORDER BY created_at DESC LIMIT 1")
            assert (await api.get(f"/openai/v1/responses/resp_{stored.hex}")).status == 404


async def test_a_conversation_becomes_a_question_and_notes(client: openai.AsyncOpenAI, api: ApiClient) -> None:
    talk: Any = [
        {"role": "developer", "content": [{"type": "input_text", "text": "Cite laws."}]},
        {"role": "user", "content": "Why tariffs?"},
        {"type": "reasoning", "id": "rs_1", "summary": []},
        {
            "type": "message",
            "id": "msg_1",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": "For revenue."}],
        },
        {"role": "user", "content": "And after 1890?"},
    ]
    asked = await client.responses.create(model=MODEL, input=talk, background=True)
    assert asked.instructions == "Cite laws."
    run = await api.get(f"/v1/runs/{run_of(asked)}")
    assert run.json["query"]["question"] == "And after 1890?"
    notes = [event async for event in _two_notes(api, str(run_of(asked)))]
    assert notes == ["Cite laws.", "Earlier in this conversation:\nuser: Why tariffs?\nassistant: For revenue."]


async def _two_notes(api: ApiClient, run: str) -> AsyncIterator[str]:
    async for event in api.events(run):
        if event["type"] == "note_added":
            yield event["payload"]["text"]
        if event["seq"] == 3:
            return


@pytest.mark.parametrize(
    ("options", "status", "words"),
    [
        ({"model": "gpt-4o"}, 404, "minddr-standard"),
        ({"previous_response_id": "resp_1"}, 404, "no response"),
        ({"metadata": {"a": 1}}, 400, "metadata"),
        ({"max_tool_calls": 5}, 400, "budget"),
        ({"input": "### Task:\nGenerate a concise, 3-5 word title for the chat."}, 400, "starts no research"),
        ({"tools": [{"type": "function", "name": "f", "parameters": {}, "strict": True}]}, 400, "web_search"),
        ({"text": {"format": {"type": "json_object"}}}, 400, "text"),
        ({"store": False}, 400, "store"),
        ({"input": "  "}, 400, "empty"),
        ({"input": [{"role": "assistant", "content": "Hello."}]}, 400, "last message"),
        ({"input": [{"role": "user", "content": [{"type": "input_image", "image_url": "x", "detail": "auto"}]}]}, 400, "text"),
        ({"input": [{"type": "function_call_output", "call_id": "c", "output": "x"}]}, 400, "message"),
        ({"extra_body": {"surprise": 1}}, 400, "surprise"),
    ],
)
async def test_what_cannot_be_done_is_refused_with_what_to_do(
    client: openai.AsyncOpenAI, options: dict[str, Any], status: int, words: str
) -> None:
    with pytest.raises(openai.APIStatusError, match=words) as caught:
        await client.responses.create(**{"model": MODEL, "input": "Why?", "background": True, **options})
    body: Any = caught.value.body
    assert (caught.value.status_code, body["type"]) == (status, "invalid_request_error")


@pytest.mark.parametrize("name", ["resp_" + "0" * 32, "resp_x", "6f9619ff"])
async def test_unknown_responses_and_paths_are_errors_in_openais_shape(
    client: openai.AsyncOpenAI, api: ApiClient, name: str
) -> None:
    with pytest.raises(openai.NotFoundError, match=r"no re|no run"):
        await client.responses.retrieve(name)
    for method, path, status in (("GET", "/openai/v1/nowhere", 404), ("PUT", "/openai/v1/responses", 405)):
        reply = await api.send(method, path)
        assert (reply.status, reply.headers["Content-Type"]) == (status, "application/json")
        assert reply.json["error"]["message"]
    refused = await api.send("GET", "/openai/v1/models", headers={"Host": "evil.example"})
    assert (refused.status, refused.json["error"]["code"]) == (421, "misdirected_request")


async def test_a_key_that_may_not_read_reports_reads_none_here(
    client: openai.AsyncOpenAI, api: ApiClient, run_log: RunLog, pool: asyncpg.Pool
) -> None:
    asked = await client.responses.create(model=MODEL, input="Why tariffs?", background=True)
    await write_begin(run_log, run_of(asked))
    await write_end(pool, run_log, run_of(asked))
    made = (await api.post("/v1/keys", {"name": "k", "scopes": ["runs:read", "runs:write"]})).json
    key = {"Authorization": f"Bearer {made['key']}"}
    assert (await api.get(f"/v1/runs/{run_of(asked)}", headers=key)).status == 200
    assert (await api.get(f"/v1/runs/{run_of(asked)}/report", headers=key)).is_problem(403)
    messages = [{"role": "user", "content": "Why?"}]
    for reply in (
        await api.get(f"/openai/v1/responses/{asked.id}", headers=key),
        await api.get(f"/openai/v1/responses/{asked.id}?stream=true", headers=key),
        await api.post(f"/openai/v1/responses/{asked.id}/cancel", headers=key),
        await api.post("/openai/v1/responses", {"model": MODEL, "input": "Why?"}, headers=key),
        await api.post("/openai/v1/chat/completions", {"model": MODEL, "messages": messages}, headers=key),
    ):
        assert (reply.status, reply.json["error"]["type"]) == (403, "permission_error")
        assert "reports:read" in reply.json["error"]["message"]


async def test_models(client: openai.AsyncOpenAI) -> None:
    listed = [model.id async for model in client.models.list()]
    assert listed == [f"{system}-{effort}" for system in SystemName for effort in ("quick", "standard", "deep")]
    assert (await client.models.retrieve("minddr-deep")).id == "minddr-deep"
    with pytest.raises(openai.NotFoundError):
        await client.models.retrieve("gpt-4o")


@pytest.mark.parametrize(
    ("effort", "asked"), [("none", "quick"), ("low", "quick"), (None, "standard"), ("medium", "standard"), ("xhigh", "deep")]
)
async def test_the_effort_of_a_model_named_without_one(client: openai.AsyncOpenAI, effort: Any, asked: str) -> None:
    made = await client.responses.create(model="minddr", input="Why?", background=True, reasoning={"effort": effort})
    assert made.model == f"minddr-{asked}"


async def test_a_field_that_a_client_leaves_unset_is_not_refused(client: openai.AsyncOpenAI) -> None:
    unset = {"prompt_cache_retention": None, "conversation": None, "max_output_tokens": None}
    made = await client.responses.create(model=MODEL, input="Why?", background=True, extra_body=unset)
    assert made.status == "in_progress"
