"""The OpenAPI document, as whoever writes a client finds it."""

from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest

from tests.app.served_api import ApiClient

METHODS = ("get", "post", "put", "patch", "delete")
# Those that answer before anybody is known say so; all others need a key.
PUBLIC = {
    "GET /health",
    "POST /v1/sign-up",
    "POST /v1/session",
    "POST /v1/invitations/accept",
    "POST /v1/verifications",
    "POST /v1/password-resets",
    "POST /v1/password-resets/accept",
    "GET /v1/oidc/start",
    "GET /v1/oidc/callback",
    "GET /v1/shared/{token}",
    "GET /v1/unsubscribe/{letter_id}",
    "POST /v1/unsubscribe/{letter_id}",
}


@pytest.fixture
async def document(api: ApiClient) -> dict[str, Any]:
    reply = await api.get("/schema/openapi.json")
    found: dict[str, Any] = reply.json
    return found


def operations(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for path, item in document["paths"].items():
        for method, operation in item.items():
            assert method in METHODS
            yield f"{method.upper()} {path}", operation


async def test_every_operation_says_all_that_a_client_must_know(document: dict[str, Any]) -> None:
    assert document["openapi"].startswith("3.1")
    found = dict(operations(document))
    assert {
        "POST /v1/runs",
        "GET /v1/runs/{run_id}/export",
        "GET /v1/runs/{run_id}/events",
        "POST /v1/webhooks",
        "POST /openai/v1/responses",
    } <= set(found)
    names = [operation["operationId"] for operation in found.values()]
    assert len(set(names)) == len(names)
    for name, operation in found.items():
        assert operation["summary"], name
        assert " " in operation["summary"], f"{name}: {operation['summary']!r} is a name, not a sentence"
        assert operation["description"], name
        assert operation["tags"], name
        path = name.partition(" ")[2]
        security = operation.get("security", document["security"])
        assert security in ([{}], []) if name in PUBLIC else all(security), name
        problems = {status for status in operation["responses"] if status >= "400"}
        if name not in PUBLIC:
            assert {"401", "403", "429", "500", "503"} <= problems, name
        assert not (operation.get("parameters") or operation.get("requestBody")) or "400" in problems, name
        kind = "application/json" if path.startswith("/openai/") else "application/problem+json"
        for status in problems - ({"503"} if path == "/health" else set()):
            assert list(operation["responses"][status]["content"]) == [kind], (name, status)


async def test_everything_that_is_sent_and_answered_has_an_example_that_fits(document: dict[str, Any]) -> None:
    components = document["components"]
    for name, operation in operations(document):
        places = [(f"{name} {given['name']}", given) for given in operation.get("parameters", ())]
        bodies = [operation["requestBody"]] if "requestBody" in operation else []
        for body in (*bodies, *operation["responses"].values()):
            places += [(f"{name} {kind}", content) for kind, content in body.get("content", {}).items()]
        for place, content in places:
            if name == "GET /health":
                continue
            schema = content.get("schema", {})
            given = content.get("examples", {}).values() if "examples" in content else [{"value": content["example"]}]
            for example in given:
                if "stream" not in place and "text/" not in place and "jsonl" not in place:
                    jsonschema.validate(
                        example["value"], {**schema, "components": components}, format_checker=jsonschema.FormatChecker()
                    )


async def test_writes_take_a_key_and_reads_a_tag(document: dict[str, Any]) -> None:
    found = dict(operations(document))
    named = {name: {given["name"] for given in operation.get("parameters", ())} for name, operation in found.items()}
    assert "Idempotency-Key" in named["POST /v1/runs"]
    assert "If-None-Match" in named["GET /v1/runs"]
    assert "ETag" in found["GET /v1/runs"]["responses"]["200"]["headers"]
    assert "If-Match" in named["PUT /v1/runs/{run_id}/plan"]
