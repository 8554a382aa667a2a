"""Who is let in, and what every response carries."""

import pytest

from tests.app.support import ApiClient


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


@pytest.mark.parametrize("path", ["/v1/runs", "/health", "/nowhere", "/v1/runs?limit=0"])
async def test_every_response_is_marked(api: ApiClient, path: str) -> None:
    headers = (await api.get(path, headers={"X-Request-ID": "abc-1"})).headers
    assert headers["X-Request-ID"] == "abc-1"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert "Server" not in headers


async def test_a_request_id_that_could_break_a_log_is_replaced(api: ApiClient) -> None:
    given = "a b;c" + "x" * 100
    assert (await api.get("/health", headers={"X-Request-ID": given})).headers["X-Request-ID"] not in ("", given)
