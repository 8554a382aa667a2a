"""The Chat Completions façade, through OpenAI's own client."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID

import asyncpg
import openai
import pytest
from openai.types.chat import ChatCompletion, ChatCompletionChunk

from app.domain.run import EventType, RunStatus
from app.http.services import Services
from app.runs.storage.run_log import RunLog
from tests.app.finished_run import URL, write_begin, write_end
from tests.app.served_api import ApiClient, InMemoryRuns
from tests.support.accounts import HOME_KEY

MODEL = "minddr-quick"
ASKED: list[Any] = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": [{"type": "text", "text": "Why?"}]}]


@pytest.fixture
async def client(api: ApiClient) -> AsyncIterator[openai.AsyncOpenAI]:
    async with openai.AsyncOpenAI(base_url=f"{api.address}/openai/v1", api_key=str(HOME_KEY), max_retries=0) as made:
        yield made


async def started(workflows: InMemoryRuns) -> UUID:
    while not workflows.started:
        await asyncio.sleep(0.01)
    return workflows.started[0].run_id


async def test_a_completion_is_waited_for(
    client: openai.AsyncOpenAI, run_log: RunLog, pool: asyncpg.Pool, workflows: InMemoryRuns
) -> None:
    waiting = asyncio.create_task(client.chat.completions.create(model=MODEL, messages=ASKED))
    run_id = await started(workflows)
    await write_begin(run_log, run_id)
    await write_end(pool, run_log, run_id)
    done = await waiting
    ChatCompletion.model_validate_json(done.model_dump_json())
    [choice] = done.choices
    text = choice.message.content
    assert text is not None
    assert (choice.finish_reason, done.id) == ("stop", f"chatcmpl-{run_id.hex}")
    assert choice.message.annotations is not None
    places = [cited.url_citation for cited in choice.message.annotations]
    assert [text[place.start_index : place.end_index] for place in places] == ["[1]", "[2]", "[1]"]
    assert {place.url for place in places} == {URL}
    assert done.usage is not None
    assert (done.usage.prompt_tokens, done.usage.completion_tokens, done.usage.total_tokens) == (900, 100, 1_000)


async def test_a_streamed_completion_tells_progress_apart_from_the_answer(
    client: openai.AsyncOpenAI, run_log: RunLog, pool: asyncpg.Pool, workflows: InMemoryRuns
) -> None:
    options: Any = {"include_usage": True}
    stream = await client.chat.completions.create(model=MODEL, messages=ASKED, stream=True, stream_options=options)
    run_id = await started(workflows)
    await write_begin(run_log, run_id)
    silent = {"what": "model", "detail": "the model has sent nothing for 20 s", "retry_in_s": 220, "silent_s": 20}
    await run_log.append_event(run_id, EventType.WAITING, "report", silent)
    await write_end(pool, run_log, run_id)
    chunks = [chunk async for chunk in stream]
    for chunk in chunks:
        ChatCompletionChunk.model_validate_json(chunk.model_dump_json())
    deltas: list[Any] = [chunk.choices[0].delta for chunk in chunks if chunk.choices]
    assert deltas[0].role == "assistant"
    told = [getattr(delta, "reasoning_content", None) for delta in deltas]
    assert "search: tariff (8 results)\n" in told
    assert "The model has sent nothing for 20 s\n" in told
    reply = await client.with_options(max_retries=0).get(f"/responses/resp_{run_id.hex}", cast_to=object)
    assert "".join(delta.content or "" for delta in deltas) == reply["output"][1]["content"][0]["text"]  # type: ignore[index]
    assert chunks[-2].choices[0].finish_reason == "stop"
    assert chunks[-1].choices == []
    assert chunks[-1].usage is not None
    assert chunks[-1].usage.total_tokens == 1_000


async def test_an_end_without_a_report_says_why(client: openai.AsyncOpenAI, run_log: RunLog, workflows: InMemoryRuns) -> None:
    waiting = asyncio.create_task(client.chat.completions.create(model=MODEL, messages=ASKED))
    run_id = await started(workflows)
    await run_log.set_status(run_id, RunStatus.FAILED, "the index is gone")
    message = (await waiting).choices[0].message
    assert (message.content, message.refusal) == (None, "The research failed: the index is gone")


async def test_a_conversation_goes_on_after_an_answer_without_a_report(
    client: openai.AsyncOpenAI, api: ApiClient, run_log: RunLog, workflows: InMemoryRuns
) -> None:
    """As tutorials have it: the answer goes into the messages as it came."""
    messages: list[Any] = [{"role": "user", "content": "Why?"}]
    waiting = asyncio.create_task(client.chat.completions.create(model=MODEL, messages=messages))
    await run_log.set_status(await started(workflows), RunStatus.FAILED, "the index is gone")
    messages.append((await waiting).choices[0].message)
    messages += [{"role": "assistant", "content": [{"type": "refusal", "refusal": "Not today."}]}]
    messages += [{"role": "assistant", "content": None}, {"role": "user", "content": "And now?"}]
    workflows.started.clear()
    stream = await client.chat.completions.create(model=MODEL, messages=messages, stream=True)
    await stream.close()
    await started(workflows)
    events = api.events(str(workflows.started[0].run_id))
    note = await anext(event["payload"]["text"] async for event in events if event["type"] == "note_added")
    told = "user: Why?\nassistant: The research failed: the index is gone\nassistant: Not today."
    assert note == f"Earlier in this conversation:\n{told}"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"n": 2}, "n:"),
        ({"stop": ["x"]}, "ends"),
        ({"response_format": {"type": "json_object"}}, "text"),
        ({"messages": []}, "messages"),
        ({"messages": [{"role": "user", "content": None}]}, "needs `content`"),
        ({"messages": [{"role": "tool", "content": "x", "tool_call_id": "c"}]}, "role"),
    ],
)
async def test_what_cannot_be_done_is_refused(client: openai.AsyncOpenAI, options: dict[str, Any], words: str) -> None:
    with pytest.raises(openai.BadRequestError, match=words):
        await client.chat.completions.create(**{"model": MODEL, "messages": ASKED, **options})


OWN = (
    "### Task:\n{what}\n### Guidelines:\n- Be short.\n### Output:\nJSON format: {form}\n"
    "### Chat History:\n<chat_history>\nUSER: Who paid the tolls of the canal?\nASSISTANT: The shippers.\n</chat_history>"
)


@pytest.mark.parametrize(
    ("message", "answer"),
    [
        (OWN.format(what="Name the chat.", form='{ "title": "a title" }'), '{"title": "Who paid the tolls of the canal?"}'),
        (OWN.format(what="Tag the chat.", form='{ "tags": ["tag1", "tag2"] }'), '{"tags": []}'),
        (OWN.format(what="Suggest next questions.", form='{ "follow_ups": ["a?"] }'), '{"follow_ups": []}'),
        (OWN.format(what="Complete what is typed.", form='{ "text": "<completion>" }'), '{"text": ""}'),
        (OWN.format(what="Search or not?", form='{\n  "queries": ["a"]\n}'), '{"queries": []}'),
        ("Please generate a four word title for this conversation, without a lead-in.", "Why do locks leak?"),
        ("Based on the chat history, give this conversation a name. Keep it short.", "Why do locks leak?"),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
async def test_what_a_client_asks_for_itself_is_answered_without_a_run(
    client: openai.AsyncOpenAI, workflows: InMemoryRuns, message: str, answer: str, stream: bool
) -> None:
    messages: list[Any] = [{"role": "user", "content": "Why do locks leak?"}, {"role": "user", "content": message}]
    said = await client.chat.completions.create(model=MODEL, messages=messages, stream=stream, max_tokens=50)
    if isinstance(said, ChatCompletion):
        told = said.choices[0].message.content
    else:
        told = "".join([chunk.choices[0].delta.content or "" async for chunk in said])
    assert told == answer
    assert not workflows.started


@pytest.mark.parametrize(
    "question",
    [
        "Generate a report on how chat clients give conversations a title?",
        "What is the title of the conversation between Galileo and his pupils?",
        "Provide evidence that the names of the months are Roman.",
        "Summarize the discussion of tolls in the 1850s.",
    ],
)
async def test_a_question_about_titles_is_a_question_and_harmless_fields_have_no_effect(
    client: openai.AsyncOpenAI, workflows: InMemoryRuns, question: str
) -> None:
    harmless: Any = {"top_k": 40, "min_p": 0.1, "repeat_penalty": 1.1, "keep_alive": "5m", "chat_id": "c", "features": {}}
    stream = await client.chat.completions.create(
        model=MODEL, messages=[{"role": "user", "content": question}], stream=True, max_tokens=5, extra_body=harmless
    )
    await stream.close()
    await started(workflows)


async def test_a_restart_of_the_server_says_where_the_research_goes_on(
    client: openai.AsyncOpenAI, services: Services, workflows: InMemoryRuns
) -> None:
    waiting = asyncio.create_task(client.chat.completions.create(model=MODEL, messages=ASKED))
    run_id = await started(workflows)
    stream = await client.chat.completions.create(model=MODEL, messages=ASKED, stream=True)
    streamed = workflows.started[1].run_id
    services.live.stop()
    [choice] = (await waiting).choices
    assert (choice.message.content, choice.finish_reason) == (None, "length"), "an answer that looks whole is taken for one"
    assert choice.message.refusal is not None
    assert f"goes on at /v1/runs/{run_id}" in choice.message.refusal
    last = [chunk.choices[0] async for chunk in stream][-1]
    assert last.finish_reason == "length"
    assert f"/v1/runs/{streamed}" in (last.delta.refusal or "")
