"""An engine behind vLLM's `POST <base_url>/completions`, asked by token ids over one shared session."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import orjson
from aiohttp import ClientResponse, ClientSession, ClientTimeout

from app.domain.errors import ModelRefused, ModelUnavailable, ModelUnusable
from app.outgoing.way_out import address_of
from training.rollouts.engine import Sample, SamplingSettings
from workflows.chat_models.endpoint import ModelEndpoint
from workflows.chat_models.openai_errors import error_from_status
from workflows.chat_models.request_delivery import RequestDelivery, note_new_connections

OK = 200
MAX_STALE = 16
KEEP_ALIVE_S = 75.0


class VLLMEngine:
    """A policy served by vLLM: the endpoint's model, or the adapter that `use_adapter` named last.

    Serve it with `--logprobs-mode processed_logprobs`, so that log-probabilities are those at the temperature; vLLM's own default
    gives them at temperature 1. With a top-p below 1 that mode also renormalises over what top-p leaves.

    Raises (from `sample`):
        ModelUnavailable: no connection, a time-out, 429, 5xx.
        ContextTooLong: the prompt is longer than the server accepts.
        ModelUnusable: the server gives no token ids, or leaves the stop token out.
        ModelRefused: any other refusal, with the server's reason.
    """

    def __init__(self, endpoint: ModelEndpoint, session: ClientSession, policy_version: int = 0) -> None:
        self._endpoint = endpoint
        self._session = session
        self._url = address_of(endpoint.base_url, "completions")
        self._served = endpoint.model
        self.policy_version = policy_version

    @property
    def name(self) -> str:
        """The name of the policy."""
        return self._endpoint.model

    def use_adapter(self, adapter: str, policy_version: int) -> None:
        """Ask the server for another adapter from now on. Answers under way are of the one before."""
        self._served, self.policy_version = adapter, policy_version

    async def sample(self, prompt_ids: Sequence[int], most: int, settings: SamplingSettings, seed: int | None) -> Sample:
        """Sample up to `most` ids after the prompt."""
        body = {
            "model": self._served,
            "prompt": list(prompt_ids),
            "max_tokens": most,
            "temperature": settings.temperature,
            "top_p": settings.top_p,
            # The server would else take these from the model's own settings, of which the trainer does not know.
            "top_k": -1,
            "min_p": 0.0,
            "repetition_penalty": 1.0,
            "stop_token_ids": list(settings.stop_ids),
            # Else the server also stops at each end token of the model's settings, of which the sampler knows nothing.
            "ignore_eos": True,
            "logprobs": 0,
            "return_token_ids": True,
        }
        raw = await self._post(body if seed is None else {**body, "seed": seed})
        return self._read_sample(raw, settings)

    async def _post(self, body: dict[str, Any]) -> bytes:
        """Send a request, again where it met a kept-alive connection that the server had closed."""
        for _ in range(MAX_STALE):
            delivery = RequestDelivery()
            try:
                return await self._deliver(body, delivery)
            except (aiohttp.ClientError, TimeoutError, OSError) as error:
                if not delivery.has_never_arrived(error):
                    raise ModelUnavailable(f"no answer from {self._url}: {error or type(error).__name__}") from error
        raise ModelUnavailable(f"{self._url} closes every connection")

    async def _deliver(self, body: dict[str, Any], delivery: RequestDelivery) -> bytes:
        key, waits = self._endpoint.api_key, self._endpoint.timeouts
        async with self._session.post(
            self._url,
            data=orjson.dumps(body),
            headers={"Content-Type": "application/json"} | ({"Authorization": f"Bearer {key}"} if key else {}),
            timeout=ClientTimeout(total=waits.first.total_seconds(), sock_connect=waits.connect.total_seconds()),
            proxy=self._endpoint.proxy,
            allow_redirects=False,
            trace_request_ctx=delivery,
        ) as response:
            delivery.answered = True
            raw = await self._read_body(response)
            if response.status != OK:
                raise error_from_status(response.status, response.headers, raw, self._url)
            return raw

    async def _read_body(self, response: ClientResponse) -> bytes:
        raw = await response.content.read(self._endpoint.max_answer_bytes + 1)
        while len(raw) <= self._endpoint.max_answer_bytes and (more := await response.content.read(1 << 16)):
            raw += more
        if len(raw) > self._endpoint.max_answer_bytes:
            raise ModelRefused(f"the answer of {self._url} is longer than {self._endpoint.max_answer_bytes} bytes")
        return raw

    def _read_sample(self, raw: bytes, settings: SamplingSettings) -> Sample:
        try:
            [choice] = orjson.loads(raw)["choices"]
            ids, finish = tuple(choice["token_ids"]), str(choice["finish_reason"])
            logprobs = tuple(map(float, choice["logprobs"]["token_logprobs"]))
        except (ValueError, KeyError, TypeError) as error:
            raise ModelUnusable(f"{self._url} gives no token ids with log-probabilities, as vLLM does: {error!r}") from error
        if not ids or len(ids) != len(logprobs) or (finish == "stop") != (ids[-1] in settings.stop_ids):
            raise ModelUnusable(f"{self._url} sent {len(ids)} ids, {len(logprobs)} log-probabilities and the end {finish!r}")
        return Sample(ids, logprobs, finish)


@asynccontextmanager
async def connect_vllm(endpoint: ModelEndpoint, policy_version: int = 0) -> AsyncIterator[VLLMEngine]:
    """Open an engine with its own session, without a limit of parallel calls."""
    connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=KEEP_ALIVE_S, ttl_dns_cache=300)
    cookies, tracing = aiohttp.DummyCookieJar(), note_new_connections()
    async with ClientSession(connector=connector, cookie_jar=cookies, trace_configs=[tracing]) as session:
        yield VLLMEngine(endpoint, session, policy_version)
