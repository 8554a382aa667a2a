"""A chat-completions server for tests and benches: answers depend on the request only, calls are billed, faults come on demand.

`python -m tests.support.model_stub --port 0 --latency-ms 200 --bill FILE` prints its base URL and serves until it is ended.
`POST /control` changes latency, rates and the next faults while it runs; `GET /control` tells the outcomes so far.
"""

import argparse
import asyncio
import contextlib
import hashlib
import random
import signal
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import orjson

from app.domain.chat import ChatRequest, Message, ResponseSchema
from app.domain.trajectory import request_digest
from tests.support.model_stub_answers import SchemaAnswers, StubPrompt, recall_form
from tests.support.model_stub_bill import Bill
from tests.support.model_stub_exchange import ChatExchange, StubAnswer
from tests.support.model_stub_faults import Fault, Faults, parse_rates
from tests.support.model_stub_http import Connection, Exchange, HttpRequest, encode_response
from tests.support.model_stub_quirks import AskedOf, apply_quirk
from tests.support.model_stub_script import RunShape, answer_by_script

MODEL = "stub"
CONTEXT = 131_072
"""The tokens of its context, as it tells in its list of models."""
CUT_OFF_CHARS = 40
FAILING_LOADS = 10
"""Of so many orders to load a model one fails."""
Answerer = Callable[[StubPrompt], str | None]


@dataclass
class ModelStub:
    """The server. `answerer` may give the text for a prompt; where it gives None, the script or the schema decides. `known`
    are the names of its models; empty: it answers to every name. With a `quirk` it speaks as a server that has it, at once and
    unbilled; `quirked` counts the answers that the quirk changed. `latency` is the time from a whole request to its answer;
    `jitter` adds up to that much, fixed by the request.
    """

    latency: timedelta = timedelta(0)
    jitter: timedelta = timedelta(0)
    bill: Bill = field(default_factory=lambda: Bill(None))
    faults: Faults = field(default_factory=Faults)
    shape: RunShape = field(default_factory=RunShape)
    answerer: Answerer | None = None
    known: set[str] = field(default_factory=set)
    quirk: str = ""
    quirked: int = 0
    loads: int = 0
    drip: timedelta = timedelta(milliseconds=100)
    base_url: str = ""
    in_flight: int = 0
    most_in_flight: int = 0
    _peers: set[Connection] = field(default_factory=set)
    _odd: int = 0
    _refused: set[str] = field(default_factory=set)
    _forms: dict[str, Mapping[str, Any]] = field(default_factory=dict)

    async def start(self, port: int = 0) -> asyncio.Server:
        """Listen on the loopback address; port 0 takes a free one."""
        loop = asyncio.get_running_loop()
        server = await loop.create_server(lambda: Connection(self._accept, self._peers), "127.0.0.1", port, backlog=1024)
        self.base_url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        return server

    def take_quirk(self, quirk: str) -> None:
        """Answer from now on as a server with this quirk does; empty: as without."""
        self.quirk, self.quirked, self._odd, self._refused = quirk, 0, 0, set()

    def drop_all(self) -> None:
        """Reset every open connection."""
        for peer in list(self._peers):
            peer.abort()

    def _accept(self, connection: Connection, request: HttpRequest) -> Exchange | None:
        path = request.path.partition("?")[0]
        if request.method == "POST" and path.endswith("/chat/completions"):
            return self._begin_chat(connection, request.body)
        if path.endswith("/models"):
            connection.send(encode_response(200, orjson.dumps({"object": "list", "data": self._list_models()})))
        elif request.method == "POST" and path.endswith("/load_lora_adapter"):
            self._take_adapter(orjson.loads(request.body)["lora_name"])
            connection.send(encode_response(200, b"Success"))
        elif path == "/control":
            connection.send(self._answer_control(request))
        else:
            connection.send(encode_response(404, b'{"error":{"message":"no such path"}}'))
        return None

    def _begin_chat(self, connection: Connection, raw: bytes) -> Exchange | None:
        try:
            request = orjson.loads(raw)
            prompt = recall_form(read_prompt(request, hashlib.sha256(raw).hexdigest()), self._forms)
        except (ValueError, KeyError, TypeError) as error:
            connection.send(encode_response(400, orjson.dumps({"error": {"message": f"not a chat request: {error}"}})))
            return None
        if self.known and request.get("model") not in self.known:
            refusal = {"message": f"The model `{request.get('model')}` does not exist.", "type": "NotFoundError", "code": 404}
            connection.send(encode_response(404, orjson.dumps({"error": refusal})))
            return None
        if self.quirk:
            connection.send(self._answer_oddly(request, prompt))
            return None
        fault = self.faults.draw(prompt.body, prompt.step)
        exchange = self._make_exchange(connection, request, prompt, fault)
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        exchange.begin()
        return exchange

    def _answer_oddly(self, request: dict[str, Any], prompt: StubPrompt) -> bytes:
        asked = AskedOf(request, self._write_text(prompt), self._odd, self._refused)
        self._odd += 1
        odd = apply_quirk(self.quirk, asked)
        self.quirked += odd is not None
        return odd or apply_quirk("ok", asked) or b""

    def _list_models(self) -> list[dict[str, Any]]:
        return [{"id": name, "max_model_len": CONTEXT} for name in sorted(self.known) or [MODEL]]

    def _make_exchange(
        self, connection: Connection, request: dict[str, Any], prompt: StubPrompt, fault: Fault | None
    ) -> ChatExchange:
        return ChatExchange(
            connection=connection,
            bill=self.bill,
            answer=self._make_answer(request, prompt, fault),
            body=prompt.body,
            key=digest_as_product(request),
            step=prompt.step,
            fault=fault,
            latency_s=self._draw_delay_s(prompt),
            retry_after_s=self.faults.retry_after_s,
            drip_s=self.drip.total_seconds(),
            on_close=self._note_close,
        )

    def _make_answer(self, request: Mapping[str, Any], prompt: StubPrompt, fault: Fault | None) -> StubAnswer:
        text = self._write_text(prompt)
        if fault is Fault.WRONG_SCHEMA:
            text = '{"unexpected": ["not", "what", "was", "asked"]}'
        elif fault is Fault.PROSE:
            text = "Certainly! I would be glad to help you with that."
        elif fault is Fault.CUT_OFF:
            text = text[:CUT_OFF_CHARS]
        return StubAnswer(
            text=text,
            model=str(request.get("model", MODEL)),
            stream=bool(request.get("stream")),
            usage_wanted=bool((request.get("stream_options") or {}).get("include_usage")),
            prompt_chars=sum(len(m["content"]) for m in prompt.messages),
            finish_reason="length" if fault is Fault.CUT_OFF else "stop",
        )

    def _write_text(self, prompt: StubPrompt) -> str:
        text = self.answerer(prompt) if self.answerer else None
        if text is not None:
            return text
        value = answer_by_script(prompt, self.shape)
        if value is None:
            foolish = SchemaAnswers(prompt)
            value = foolish.answer() if prompt.schema is not None else foolish.choose_sentence()
        return value if isinstance(value, str) else orjson.dumps(value).decode()

    def _draw_delay_s(self, prompt: StubPrompt) -> float:
        jitter = self.jitter.total_seconds()
        return self.latency.total_seconds() + (random.Random(prompt.body).random() * jitter if jitter else 0.0)

    def _note_close(self, _: ChatExchange) -> None:
        self.in_flight -= 1

    def _answer_control(self, request: HttpRequest) -> bytes:
        if request.method == "POST":
            try:
                self._obey(orjson.loads(request.body or b"{}"))
            except (ValueError, KeyError, TypeError) as error:
                return encode_response(400, orjson.dumps({"error": {"message": str(error)}}))
        state = {"in_flight": self.in_flight, "most_in_flight": self.most_in_flight, "outcomes": self.bill.outcomes}
        return encode_response(200, orjson.dumps(state))

    def _obey(self, orders: Mapping[str, Any]) -> None:
        if "quirk" in orders:
            self.take_quirk(orders["quirk"])
        if "latency_ms" in orders:
            self.latency = timedelta(milliseconds=orders["latency_ms"])
        if "retry_after_s" in orders:
            self.faults.retry_after_s = float(orders["retry_after_s"])
        if "rates" in orders:
            self.faults.rates = parse_rates(orders["rates"])
        for order in orders.get("next", ()):
            self.faults.order(Fault(order["kind"]), order.get("step", ""), int(order.get("times", 1)))
        if name := orders.get("load"):
            self.loads += 1
            if self.loads % FAILING_LOADS == 0:
                raise ValueError(f"no memory for {name}")
            self.known.add(name)
        self.known -= set(orders.get("unload", ()))
        if orders.get("drop_all"):
            self.drop_all()

    def _take_adapter(self, name: str) -> None:
        if self.known:  # else it answers to every name
            self.known.add(name)


def read_prompt(request: Mapping[str, Any], body: str) -> StubPrompt:
    """Read a chat request. Raises KeyError, TypeError or ValueError when it is not one."""
    messages = request["messages"]
    if not messages or not all(isinstance(m["content"], str) and m["role"] for m in messages):
        raise ValueError("messages must have a role and a text")
    wanted = request.get("response_format") or {}
    described = wanted.get("json_schema", {}) if wanted.get("type") == "json_schema" else {}
    name, schema, temperature = described.get("name", ""), described.get("schema"), float(request.get("temperature", 0.0))
    model = str(request.get("model", MODEL))
    return StubPrompt(name, messages, schema, body, temperature, model)


def digest_as_product(request: Mapping[str, Any]) -> str:
    """Return the digest under which the product stores this request's turn, so that a bill can be compared with turns."""
    wanted = (request.get("response_format") or {}).get("json_schema")
    schema = ResponseSchema.model_construct(name=wanted["name"], schema_=wanted.get("schema", {})) if wanted else None
    asked = ChatRequest.model_construct(
        messages=tuple(Message.model_construct(role=m["role"], content=m["content"]) for m in request["messages"]),
        response_schema=schema,
        max_tokens=request.get("max_tokens", request.get("max_completion_tokens", 4_096)),
        temperature=float(request.get("temperature", 0.0)),
        stop=tuple(request.get("stop") or ()),
        seed=request.get("seed"),
    )
    return request_digest(asked, str(request.get("model", "")))


@contextlib.asynccontextmanager
async def serve_model_stub(stub: ModelStub | None = None, port: int = 0) -> AsyncIterator[ModelStub]:
    """Serve a stub inside the running loop."""
    served = stub or ModelStub()
    server = await served.start(port)
    try:
        yield served
    finally:
        server.close()
        served.drop_all()
        await asyncio.sleep(0)
        served.bill.close()


def make_parser() -> argparse.ArgumentParser:
    """Make the parser of the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--latency-ms", type=float, default=200.0)
    parser.add_argument("--jitter-ms", type=float, default=0.0)
    parser.add_argument("--bill", type=Path)
    parser.add_argument("--known", action="append", default=[], metavar="NAME", help="a model; without any, every name is one")
    parser.add_argument("--fault", action="append", default=[], metavar="KIND=SHARE", help=", ".join(Fault))
    parser.add_argument("--retry-after-s", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--shape", action="append", default=[], metavar="NAME=COUNT", help="e.g. subtasks=6")
    return parser


async def serve(options: argparse.Namespace) -> None:
    """Serve until SIGTERM or SIGINT."""
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    stub = ModelStub(
        latency=timedelta(milliseconds=options.latency_ms),
        jitter=timedelta(milliseconds=options.jitter_ms),
        bill=Bill(options.bill),
        faults=Faults(parse_rates(options.fault), retry_after_s=options.retry_after_s, seed=options.seed),
        shape=RunShape.parse(options.shape),
        known=set(options.known),
    )
    async with serve_model_stub(stub, options.port):
        print(stub.base_url, flush=True)
        await stop.wait()


if __name__ == "__main__":
    asyncio.run(serve(make_parser().parse_args()))
