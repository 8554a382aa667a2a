"""The stub itself: what it answers, what it bills, how it fails on demand."""

import asyncio
import re
import time
from collections.abc import AsyncIterator, Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import aiohttp
import jsonschema  # type: ignore[import-untyped]
import orjson
import pytest

from app.domain.chat import ChatRequest, ChatRole, Message, ResponseSchema
from app.domain.trajectory import request_digest
from tests.support.model_stub import ModelStub, serve_model_stub
from tests.support.model_stub_bill import Bill, BillLine, read_bill
from tests.support.model_stub_faults import Fault, parse_rates

SCHEMA: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["id", "items", "kind", "score"],
    "properties": {
        "id": {"type": "string", "pattern": "^[a-z][a-z0-9_-]{0,31}$"},
        "items": {"type": "array", "minItems": 2, "maxItems": 4, "items": {"$ref": "#/$defs/Item"}},
        "kind": {"enum": ["one", "two"]},
        "score": {"type": "integer", "minimum": 1, "maximum": 5},
        "note": {"anyOf": [{"type": "string", "maxLength": 12}, {"type": "null"}]},
    },
    "$defs": {"Item": {"type": "object", "required": ["text"], "properties": {"text": {"type": "string", "minLength": 30}}}},
}


def ask(text: str, **more: Any) -> dict[str, Any]:
    wanted = {"type": "json_schema", "json_schema": {"name": "thing", "schema": SCHEMA}}
    return {"model": "stub", "messages": [{"role": "user", "content": text}], "response_format": wanted, **more}


@pytest.fixture
async def client() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as session:
        yield session


async def text_of(client: aiohttp.ClientSession, stub: ModelStub, body: dict[str, Any]) -> str:
    async with client.post(f"{stub.base_url}/chat/completions", json=body) as response:
        assert response.status == 200
        text: str = (await response.json())["choices"][0]["message"]["content"]
        return text


async def until(holds: Callable[[], bool]) -> None:
    while not holds():
        await asyncio.sleep(0.005)


def bill_of(path: Path) -> list[BillLine]:
    return list(read_bill(path))


async def test_answers_satisfy_the_schema_and_depend_on_the_request_only(client: aiohttp.ClientSession) -> None:
    async with serve_model_stub() as stub:
        texts = [await text_of(client, stub, ask(f"Why tariffs? Reason {n}.")) for n in range(20)]
        again = await text_of(client, stub, ask("Why tariffs? Reason 7."))
    for text in texts:
        jsonschema.validate(orjson.loads(text), SCHEMA)
    assert again == texts[7]
    assert len(set(texts)) == 20


async def test_a_stream_carries_the_same_answer_and_its_usage(client: aiohttp.ClientSession) -> None:
    async with serve_model_stub() as stub:
        plain = await text_of(client, stub, ask("Same?", stream=False))
        body = ask("Same?", stream=True, stream_options={"include_usage": True})
        async with client.post(f"{stub.base_url}/chat/completions", json=body) as response:
            events = re.findall(r"data: (.*)\n\n", await response.text())
    chunks = [orjson.loads(e) for e in events[:-1]]
    assert events[-1] == "[DONE]"
    streamed = "".join(c["choices"][0]["delta"].get("content", "") for c in chunks if c["choices"])
    jsonschema.validate(orjson.loads(streamed), SCHEMA)
    assert chunks[-1]["usage"]["completion_tokens"] > 0
    assert plain


async def test_the_bill_names_each_call_by_the_products_own_digest(client: aiohttp.ClientSession, tmp_path: Path) -> None:
    async with serve_model_stub(ModelStub(bill=Bill(tmp_path / "bill"))) as stub:
        await text_of(client, stub, ask("Pay", max_tokens=99, temperature=0.0))
    (line,) = bill_of(tmp_path / "bill")
    wanted = ResponseSchema(name="thing", schema=SCHEMA)
    request = ChatRequest(messages=(Message(role=ChatRole.USER, content="Pay"),), response_schema=wanted, max_tokens=99)
    assert (line.outcome, line.step, line.key) == ("answered", "thing", request_digest(request, "stub"))
    assert line.start <= line.end <= time.time()


async def test_a_caller_that_leaves_is_billed_as_aborted(client: aiohttp.ClientSession, tmp_path: Path) -> None:
    async with serve_model_stub(ModelStub(latency=timedelta(seconds=30), bill=Bill(tmp_path / "bill"))) as stub:
        call = asyncio.create_task(text_of(client, stub, ask("Wait")))
        await until(lambda: stub.in_flight == 1)
        call.cancel()
        await until(lambda: stub.in_flight == 0)
    assert [line.outcome for line in bill_of(tmp_path / "bill")] == ["aborted"]


@pytest.mark.parametrize(
    ("fault", "status"), [(Fault.RATE_LIMITED, 429), (Fault.SERVER_ERROR, 500), (Fault.HTML, 200), (Fault.UNAUTHORIZED, 401)]
)
async def test_a_fault_comes_once_and_then_the_answer(client: aiohttp.ClientSession, fault: Fault, status: int) -> None:
    async with serve_model_stub() as stub:
        stub.faults.order(fault)
        async with client.post(f"{stub.base_url}/chat/completions", json=ask("Now")) as response:
            assert response.status == status
            assert ("Retry-After" in response.headers) == (fault is Fault.RATE_LIMITED)
        assert orjson.loads(await text_of(client, stub, ask("Now")))
        assert stub.bill.outcomes == {fault: 1, "answered": 1}


async def test_broken_transfers_break(client: aiohttp.ClientSession) -> None:
    async with serve_model_stub() as stub:
        for fault in (Fault.RESET, Fault.HALF_STREAM):
            stub.faults.order(fault)
            with pytest.raises(aiohttp.ClientError):
                await text_of(client, stub, ask("Break", stream=True))
        stub.faults.order(Fault.INVALID_JSON)
        async with client.post(f"{stub.base_url}/chat/completions", json=ask("Break")) as response:
            broken = await response.read()
        with pytest.raises(orjson.JSONDecodeError):
            orjson.loads(broken)


async def test_answers_that_are_not_what_was_asked(client: aiohttp.ClientSession) -> None:
    async with serve_model_stub() as stub:
        stub.faults.order(Fault.WRONG_SCHEMA, step="thing")
        wrong = orjson.loads(await text_of(client, stub, ask("Odd")))
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(wrong, SCHEMA)
        stub.faults.order(Fault.PROSE)
        with pytest.raises(orjson.JSONDecodeError):
            orjson.loads(await text_of(client, stub, ask("Odd")))


async def test_a_slow_drip_arrives_whole(client: aiohttp.ClientSession, tmp_path: Path) -> None:
    async with serve_model_stub(ModelStub(drip=timedelta(milliseconds=2), bill=Bill(tmp_path / "bill"))) as stub:
        stub.faults.order(Fault.DRIP)
        async with client.post(f"{stub.base_url}/chat/completions", json=ask("Slow", stream=True)) as response:
            assert (await response.text()).endswith("data: [DONE]\n\n")
    assert bill_of(tmp_path / "bill")[0].outcome == "answered"


async def test_rates_and_latency_can_be_changed_while_it_serves(client: aiohttp.ClientSession) -> None:
    async with serve_model_stub() as stub:
        control = stub.base_url.removesuffix("/v1") + "/control"
        async with client.post(control, json={"rates": {"server_error": 1.0}, "latency_ms": 1}) as response:
            assert response.status == 200
        async with client.post(f"{stub.base_url}/chat/completions", json=ask("Now")) as response:
            assert response.status == 500
        async with client.post(control, json={"rates": {"nonsense": 1.0}}) as response:
            assert response.status == 400
        async with client.get(control) as response:
            assert (await response.json())["outcomes"] == {"server_error": 1}
    with pytest.raises(ValueError, match="shares"):
        parse_rates(["hang=0.7", "reset=0.7"])


async def test_four_hundred_calls_are_in_flight_at_once() -> None:
    async with serve_model_stub(ModelStub(latency=timedelta(seconds=2))) as stub:
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
            await asyncio.gather(*(text_of(session, stub, ask(f"Call {n}")) for n in range(400)))
        assert stub.most_in_flight > 200
