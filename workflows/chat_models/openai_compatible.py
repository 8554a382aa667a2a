"""Client of any OpenAI-compatible server, over one shared session with kept-alive connections. It never retries."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from typing import Any

import aiohttp
import orjson
from aiohttp import ClientResponse, ClientSession, ClientTimeout

from app.domain.budget import Usage
from app.domain.chat import ChatRequest, Completion
from app.domain.errors import ContextTooLong, ModelError, ModelRefused, ModelUnavailable, ModelUnusable
from app.domain.safe_text import make_safe_line
from app.outgoing.way_out import make_tls
from workflows.chat_models.call_watch import watch_of_call
from workflows.chat_models.endpoint import ModelEndpoint
from workflows.chat_models.estimating import estimate_usage
from workflows.chat_models.openai_dialect import DialectTrial, FormRefused, ServerDialect, remove_limit
from workflows.chat_models.openai_errors import (
    error_from_object,
    error_from_status,
    make_protocol_error,
    read_error,
    read_misshapen_answer,
)
from workflows.chat_models.openai_wire import (
    ENDED_WELL,
    ProtocolError,
    ReceivedAnswer,
    ServerError,
    StreamReader,
    find_answer,
    looks_like_events,
    make_request_body,
    read_whole,
)
from workflows.chat_models.request_delivery import RequestDelivery, note_new_connections
from workflows.chat_models.stream_watch import StreamWatch
from workflows.checks.answer_faults import LOOPED

OK = 200
MAX_DIALECT_TURNS = 9
MAX_STALE = 16
MAX_REFUSAL_BYTES = 64_000
KEEP_ALIVE_S = 75.0
LINGER_S = 1.0
GATHER_S = 0.1
EVENT_STREAM = "text/event-stream"
_WRONG_PROTOCOL = (
    aiohttp.ClientConnectorCertificateError,
    aiohttp.ClientConnectorSSLError,
    aiohttp.InvalidURL,
    aiohttp.ClientResponseError,
)


class OpenAICompatible:
    """A chat model behind `POST <base_url>/chat/completions`.

    Raises (from `complete`):
        ModelUnavailable: no connection, a time-out, 429, 5xx, an answer that breaks off.
        ContextTooLong: the conversation is longer than the model accepts.
        ModelUnusable: the server refuses the key, finds its account used up, does not know the model, or speaks another protocol.
        ModelRefused: any other refusal, with the server's reason.
    """

    def __init__(self, endpoint: ModelEndpoint, session: ClientSession) -> None:
        self._endpoint = endpoint
        self._session = session
        self._dialect = ServerDialect()
        self._headers = _make_headers(endpoint)
        self._timeout = _make_timeout(endpoint)
        self._without_end = ClientTimeout(total=None, sock_connect=endpoint.timeouts.connect.total_seconds())

    @property
    def name(self) -> str:
        """The model's name on its server."""
        return self._endpoint.model

    async def complete(self, request: ChatRequest) -> Completion:
        """Return one answer to one request."""
        try:
            body = make_request_body(self._endpoint.model, request, self._endpoint.stream, self._endpoint.top_p)
            heard = await self._ask(body)
        except ModelError as error:
            raise self._remove_key(error) from error.__cause__
        return self._make_completion(request, heard)

    async def _ask(self, body: dict[str, Any]) -> ReceivedAnswer:
        trial = DialectTrial(self._dialect, body)
        for _ in range(MAX_DIALECT_TURNS):
            try:
                heard = await self._post(trial.write_body())
            except ContextTooLong:
                if not remove_limit(body):
                    raise
                continue  # some servers add the limit of the answer to the length of the conversation
            except FormRefused as refusal:
                if not trial.learn(refusal):
                    raise
                continue
            trial.end()
            return heard
        raise ModelRefused("the model server refused one field of the request after the other")

    async def _post(self, body: dict[str, Any]) -> ReceivedAnswer:
        for _ in range(MAX_STALE):
            delivery = RequestDelivery()
            try:
                return await self._deliver(body, delivery)
            except ModelUnavailable as error:
                if not delivery.has_never_arrived(error.__cause__):
                    raise
        raise ModelUnavailable(f"{self._endpoint.way} closes every connection")

    async def _deliver(self, body: dict[str, Any], delivery: RequestDelivery) -> ReceivedAnswer:
        try:
            async with self._session.post(
                self._endpoint.url,
                data=bytes(memoryview(orjson.dumps(body))),  # a copy, since its own result keeps several times its room
                headers=self._headers,
                timeout=self._timeout if watch_of_call() is None else self._without_end,
                proxy=self._endpoint.proxy,
                allow_redirects=False,
                trace_request_ctx=delivery,
            ) as response:
                delivery.answered = True
                return await self._read_response(response)
        except _WRONG_PROTOCOL as error:
            message = f"cannot speak to {self._endpoint.way}: {_put_on_one_line(error)}; check RUBRICA_LLM_BASE_URL"
            raise ModelUnusable(message, certain=False) from error
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise ModelUnavailable(f"no answer from {self._endpoint.way}: {_put_on_one_line(error)}") from error

    async def _read_response(self, response: ClientResponse) -> ReceivedAnswer:
        if response.status != OK:
            raw = await self._read_bytes(response, MAX_REFUSAL_BYTES, cut=True)
            if (written := read_misshapen_answer(read_error(raw))) is not None:
                return ReceivedAnswer([written])
            raise error_from_status(response.status, response.headers, raw, self._endpoint.way)
        try:
            if response.content_type == EVENT_STREAM:
                return await self._read_stream(response)
            return await self._read_whole_answer(response)
        except ServerError as error:
            if (written := read_misshapen_answer(error.error)) is not None:
                return ReceivedAnswer([written])
            raise error_from_object(error.error) from error

    async def _read_whole_answer(self, response: ClientResponse) -> ReceivedAnswer:
        """Read an answer that is one JSON object, also from a server that ignored the request for a stream, or a stream that is
        not called one.
        """
        raw = await self._read_bytes(response, self._endpoint.max_answer_bytes)
        try:
            if not looks_like_events(raw):
                return read_whole(raw)
            reader = StreamReader()
            reader.feed(raw)
            return self._end_stream(reader)
        except ProtocolError as error:
            if raw.lstrip()[:1] == b"{" and response.content_type.endswith("json") and b'"choices"' in raw:
                raise ModelUnavailable(f"the answer of {self._endpoint.way} is garbled: {error}") from error
            raise make_protocol_error(self._endpoint.way, error, raw) from error

    async def _read_stream(self, response: ClientResponse) -> ReceivedAnswer:
        """Read a stream to its end. One that loops is ended: leaving the response open closes the connection.

        Where the call is watched, its watcher decides how long it may be silent.
        """
        reader, size, watch, watcher = StreamReader(), 0, StreamWatch(), watch_of_call()
        try:
            async with asyncio.timeout(None if watcher else self._endpoint.timeouts.first.total_seconds()) as patience:
                while data := await response.content.readany():
                    size += len(data)
                    self._check_size(size, self._endpoint.max_answer_bytes)
                    self._feed(reader, data)
                    if reader.done:
                        await _read_to_end(response)
                        break
                    if watch.take(reader.heard):
                        if watcher is None:
                            _extend(patience, self._endpoint.timeouts.idle)
                        else:
                            watcher.hear(lambda: reader.heard.thought + reader.heard.text)
                    if watch.loops:
                        reader.heard.finish_reason = LOOPED
                        return reader.heard
                    await _let_gather(response)
        except TimeoutError as error:
            raise ModelUnavailable(f"{self._endpoint.way} stopped sending tokens in the middle of an answer") from error
        return self._end_stream(reader)

    def _end_stream(self, reader: StreamReader) -> ReceivedAnswer:
        reader.end()
        if reader.foreign:
            raise make_protocol_error(self._endpoint.way, "the answer has no choices", reader.foreign)
        if not reader.complete:
            raise ModelUnavailable(f"the stream of {self._endpoint.way} ended in the middle of the answer")
        return reader.heard

    def _feed(self, reader: StreamReader, data: bytes) -> None:
        try:
            reader.feed(data)
        except ProtocolError as error:
            raise make_protocol_error(self._endpoint.way, error, data) from error

    async def _read_bytes(self, response: ClientResponse, most: int, cut: bool = False) -> bytes:
        pieces: list[bytes] = []
        size = 0
        async for data in response.content.iter_any():
            pieces.append(data)
            size += len(data)
            if cut and size >= most:
                break
            self._check_size(size, most)
        return b"".join(pieces)

    def _check_size(self, size: int, most: int) -> None:
        if size > most:
            raise ModelRefused(f"the answer of {self._endpoint.way} is longer than {most} bytes")

    def _make_completion(self, request: ChatRequest, heard: ReceivedAnswer) -> Completion:
        estimated = heard.input_tokens is None or heard.output_tokens is None
        guess = estimate_usage(request, heard.thought + heard.text) if estimated else Usage()
        tokens_in = guess.input_tokens if heard.input_tokens is None else heard.input_tokens
        tokens_out = guess.output_tokens if heard.output_tokens is None else heard.output_tokens
        return Completion(
            text=find_answer(heard, request.response_schema),
            model=make_safe_line(heard.model or "") or self._endpoint.model,
            finish_reason=heard.finish_reason or ENDED_WELL,  # some servers never state one
            usage=self._endpoint.prices.bill(tokens_in, tokens_out),
            estimated=estimated,
        )

    def _remove_key(self, error: ModelError) -> ModelError:
        """Return the error, with the key replaced by stars if the server repeats it."""
        key = self._endpoint.api_key
        if key and key in str(error):
            error.args = (str(error).replace(key, "***"),)
        return error


def _make_headers(endpoint: ModelEndpoint) -> dict[str, str]:
    return {"Content-Type": "application/json", "Accept": f"{EVENT_STREAM}, application/json", **endpoint.key_header}


def _make_timeout(endpoint: ModelEndpoint) -> ClientTimeout:
    """Return the time-outs of the connection. The tokens of a stream are waited for in `_read_stream`."""
    stated = endpoint.timeouts
    first, connect = stated.first.total_seconds(), stated.connect.total_seconds()
    return ClientTimeout(total=None if endpoint.stream else first, sock_connect=connect, sock_read=first)


def _extend(patience: asyncio.Timeout, wait: timedelta) -> None:
    patience.reschedule(asyncio.get_running_loop().time() + wait.total_seconds())


async def _let_gather(response: ClientResponse) -> None:
    """Let the next tokens collect in the socket: waking up for each one costs about 40 ms CPU per answer, and nobody watches."""
    protocol = response.connection.protocol if response.connection else None
    if protocol is not None:
        protocol.pause_reading()
        try:
            await asyncio.sleep(GATHER_S)
        finally:
            protocol.resume_reading()


async def _read_to_end(response: ClientResponse) -> None:
    """Read to the end of the response after the end mark, so that the connection can be used again."""
    if response.content.at_eof():
        return
    with suppress(TimeoutError):
        async with asyncio.timeout(LINGER_S):
            while await response.content.readany():
                pass


def _put_on_one_line(error: BaseException) -> str:
    return " ".join(str(error).split())[:300] or type(error).__name__


@asynccontextmanager
async def connect_model(endpoint: ModelEndpoint) -> AsyncIterator[OpenAICompatible]:
    """Open a model with its own session: one pool of kept-alive connections, without a limit of parallel calls."""
    connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=KEEP_ALIVE_S, ttl_dns_cache=300, ssl=make_tls())
    cookies, tracing = aiohttp.DummyCookieJar(), note_new_connections()
    async with ClientSession(connector=connector, cookie_jar=cookies, trace_configs=[tracing]) as session:
        yield OpenAICompatible(endpoint, session)
