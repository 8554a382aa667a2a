"""Services that only a proxy knows: models, embeddings, searches, pages and webhooks; and what its refusal says."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import timedelta
from uuid import uuid4

import pytest
from aiohttp import web

from app.domain.chat import ChatRequest, ChatRole, Message
from app.domain.errors import ModelError, ToolError
from app.outgoing.addresses import parse_networks
from app.outgoing.model_check import ModelCheck
from app.webhooks.nouns import OutgoingMessage
from app.webhooks.service.sending import Sender
from bench.forward_proxy import ForwardProxy
from bench.web_listeners import ScriptedNames
from infra.local.remote import check_model
from retrieval.encoding.encoder_endpoint import EmbeddingsServer, EndpointEncoder
from retrieval.encoding.endpoint import EndpointPatience
from retrieval.fetch.fetching import FetchedPage, Fetcher, FetchPolicy
from retrieval.outside.failure import CallFailed
from retrieval.outside.http import HttpRequest, open_exchange
from tests.support.patience import PATIENCE_S
from workflows.chat_models.endpoint import ModelEndpoint
from workflows.chat_models.openai_compatible import connect_model

LOOPBACK = parse_networks("127.0.0.0/8")
PATIENCE = EndpointPatience(timedelta(seconds=PATIENCE_S), timedelta(seconds=PATIENCE_S))
ASKED = ChatRequest(messages=(Message(role=ChatRole.USER, content="Hello"),))
ANSWER = {"choices": [{"message": {"content": "Good day."}, "finish_reason": "stop"}], "usage": {}}


@dataclass
class Network:
    """A server that the proxy knows as `house.example`, and the proxy."""

    port: int
    proxy: ForwardProxy
    address: str

    @property
    def url(self) -> str:
        return f"http://house.example:{self.port}"


async def _answer(request: web.Request) -> web.Response:
    answers = {
        "/v1/chat/completions": ANSWER,
        "/v1/models": {"data": [{"id": "m"}]},
        "/v1/embeddings": {"data": [{"index": 0, "embedding": [3.0, 4.0]}]},
    }
    await request.read()
    return web.json_response(answers.get(request.path, {"path": request.path}))


@pytest.fixture
async def network(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Network]:
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", _answer)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = runner.addresses[0][1]
    proxy = ForwardProxy(ScriptedNames({"house.example": [["127.0.0.1"]]}), LOOPBACK)
    address = await proxy.start("127.0.0.1")
    for name in ("http_proxy", "no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HTTP_PROXY", address.replace("//", "//ada:pa55@"))
    yield Network(port, proxy, address)
    await proxy.stop()
    await runner.cleanup()


async def test_a_model_is_asked_by_the_proxy_as_its_check_is(network: Network) -> None:
    endpoint = ModelEndpoint(f"{network.url}/v1", "m", stream=False)
    await check_model(endpoint.base_url, None)
    assert await ModelCheck(endpoint.base_url, "m").find_refusal() == ""
    async with connect_model(endpoint) as model:
        assert (await model.complete(ASKED)).text == "Good day."
    paths = ["/v1/models", "/v1/models", "/v1/chat/completions"]
    assert network.proxy.asked == [f"{network.url}{path}" for path in paths]
    assert len(network.proxy.logins) == 3


async def test_embeddings_and_searches_go_by_the_proxy_too(network: Network) -> None:
    server = EmbeddingsServer(url=f"{network.url}/v1/embeddings", model="m")
    encoder = await asyncio.to_thread(EndpointEncoder, server, PATIENCE, PATIENCE)
    assert encoder.size == 2
    async with open_exchange() as exchange:
        assert await exchange.send(HttpRequest(f"{network.url}/search")) == b'{"path": "/search"}'
    assert network.proxy.asked == [f"{network.url}/v1/embeddings", f"{network.url}/search"]


async def test_a_refusal_of_the_proxy_names_it_without_its_password(network: Network) -> None:
    told = [await ModelCheck("http://other.example/v1", "m", "k3y").find_refusal()]
    async with connect_model(ModelEndpoint("http://other.example/v1", "m", "k3y")) as model:
        with pytest.raises(ModelError) as refused:
            await model.complete(ASKED)
    async with open_exchange() as exchange:
        with pytest.raises(CallFailed) as failed:
            await exchange.send(HttpRequest("http://other.example/search"))
    with pytest.raises(ToolError) as denied:
        await asyncio.to_thread(EndpointEncoder, EmbeddingsServer(url="http://other.example/v1", model="m"), PATIENCE, PATIENCE)
    for message in (*told, str(refused.value), str(failed.value), str(denied.value)):
        assert f"the proxy {network.address}" in message
        assert "pa55" not in message
    assert len(network.proxy.refused) == 4


async def test_pages_and_webhooks_take_only_a_proxy_that_is_named_for_them_after_our_own_check(network: Network) -> None:
    message = OutgoingMessage(
        id=uuid4(), webhook_id=uuid4(), url=f"{network.url}/hook", secrets=("whsec_c2VjcmV0",), body="{}", attempts=0
    )
    inside = ScriptedNames({"inside.example": [["10.0.0.1"]]})
    policy = FetchPolicy(ports=frozenset({network.port}), lookup=inside, proxy=network.address)
    async with Fetcher(policy) as fetcher:
        page = await fetcher.fetch_once(fetcher.check_target(f"{network.url}/page"))
        assert isinstance(page, FetchedPage)
        assert page.body == b'{"path": "/page"}'
        with pytest.raises(ToolError, match="the host's address is private"):
            await fetcher.fetch_once(fetcher.check_target(f"http://inside.example:{network.port}/"))
        with pytest.raises(ToolError, match=f"status 403, through the proxy {network.address}"):
            await fetcher.fetch_once(fetcher.check_target(f"http://unknown.example:{network.port}/"))
    asked = len(network.proxy.asked)
    sender = Sender((), timedelta(seconds=PATIENCE_S), inside, network.address)
    assert await sender.send(message) == (200, "")
    await sender.close()
    assert len(network.proxy.asked) == asked + 1
    async with Fetcher(FetchPolicy(ports=frozenset({network.port}), lookup=inside)) as fetcher:
        with pytest.raises(ToolError, match="could not be looked up"):  # the environment's proxy is not for pages
            await fetcher.fetch_once(fetcher.check_target(f"{network.url}/page"))
    assert len(network.proxy.asked) == asked + 1
