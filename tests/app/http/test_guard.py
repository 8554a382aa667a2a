"""Who is let in, and what every response carries."""

import pytest

from app.accounts.service.policy import AccountPolicy
from app.http.services import open_services
from tests.app.served_api import ApiClient, InMemoryRuns, serve_api


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8700", "127.0.0.1.evil.example", "", "localhost.", "[::2]:1"])
async def test_a_page_that_rebinds_its_name_is_refused(api: ApiClient, host: str) -> None:
    assert (await api.get("/v1/runs", headers={"Host": host})).is_problem(421)


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:8700", "127.0.0.1:1", "[::1]:8700"])
async def test_local_names_are_served(api: ApiClient, host: str) -> None:
    assert (await api.get("/v1/runs", headers={"Host": host})).status == 200


@pytest.mark.parametrize(
    "headers",
    [{"Origin": "https://evil.example"}, {"Origin": "null"}, {"Origin": "http://localhost:9"}, {"Sec-Fetch-Site": "cross-site"}],
)
async def test_a_foreign_page_changes_nothing(api: ApiClient, headers: dict[str, str]) -> None:
    before = (await api.get("/v1/runs")).json
    reply = await api.post("/v1/runs", {"question": "Do you hear me?"}, headers=headers)
    assert reply.is_problem(403)
    assert (await api.get("/v1/runs")).json == before


async def test_our_own_page_may_write(api: ApiClient) -> None:
    reply = await api.post("/v1/runs", {"question": "May I?"}, headers={"Origin": api.address, "Sec-Fetch-Site": "same-origin"})
    assert reply.status == 201


PLACES = ["/v1/runs", "/health", "/nowhere", "/v1/runs?limit=0", "/v1/shared/none", "/openai/v1/models", "/schema/openapi.json"]


@pytest.mark.parametrize("path", PLACES)
@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer wrong"}, {"Host": "evil.example"}])
async def test_every_response_is_marked(api: ApiClient, path: str, headers: dict[str, str]) -> None:
    told = (await api.get(path, headers=headers | {"X-Request-ID": "abc-1"})).headers
    assert told["X-Request-ID"] == "abc-1"
    assert told["X-Content-Type-Options"] == "nosniff"
    assert told["Referrer-Policy"] == "no-referrer"
    assert told["X-Frame-Options"] == "DENY"
    assert told["Cross-Origin-Resource-Policy"] == "same-origin"
    assert "no-store" in told["Cache-Control"] or "no-cache" in told["Cache-Control"]
    assert {"default-src 'none'", "frame-ancestors 'none'"} <= set(told["Content-Security-Policy"].split("; "))
    assert "Server" not in told


async def test_a_request_id_that_could_break_a_log_is_replaced(api: ApiClient) -> None:
    given = "a b;c" + "x" * 100
    assert (await api.get("/health", headers={"X-Request-ID": given})).headers["X-Request-ID"] not in ("", given)


async def test_who_comes_by_https_is_to_come_by_nothing_else(
    api_urls: tuple[str, str], workflows: InMemoryRuns, api: ApiClient
) -> None:
    policy = AccountPolicy(public_url="https://rubrica.example")
    async with open_services(*api_urls, workflows, accounts_policy=policy) as services, serve_api(services) as secure:
        told = (await secure.get("/health")).headers["Strict-Transport-Security"]
        assert int(told.removeprefix("max-age=")) >= 31_536_000
    assert "Strict-Transport-Security" not in (await api.get("/health")).headers
