"""Every call of the client is one of the API's, and every call of the API that a program makes is one of the client's."""

import inspect
import re
from collections.abc import Callable
from types import NoneType
from typing import Any, get_args

import pytest
from pydantic import BaseModel

from infra.client_code import describe_api
from rubrica_client.request import Request
from tests.client.client_calls import list_functions, make_example_request

# What a browser does, what needs no client, and what has one of its own.
NOT_FOR_PROGRAMS = (
    *("/v1/oidc", "/v1/session", "/v1/sign-up", "/v1/invitations/accept", "/v1/me/erasure", "/v1/unsubscribe"),
    *("/v1/verifications", "/v1/password-resets"),
    *("/v1/shared", "/v1/retrieve", "/openai", "/v1/runs/{run_id}/events"),
)


@pytest.fixture(scope="module")
def operations() -> dict[str, dict[str, Any]]:
    paths = describe_api()["paths"].items()
    return {f"{method.upper()} {path}": told for path, item in paths for method, told in item.items()}


def operation_of(request: Request[Any], operations: dict[str, dict[str, Any]]) -> str:
    called = f"{request.method} {request.path}"
    found = [name for name in operations if re.fullmatch(re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(name)), called)]
    plain = [name for name in found if name == called]
    assert found, called
    return (plain or found)[0]


def answers_of(told: dict[str, Any]) -> list[str]:
    contents = [answer.get("content", {}) for status, answer in told["responses"].items() if status.startswith("2")]
    return [content.get("schema", {}).get("$ref", "").rpartition("/")[2] for kinds in contents for content in kinds.values()]


@pytest.mark.parametrize(("name", "function"), list(list_functions()), ids=lambda value: value if isinstance(value, str) else "")
def test_a_request_is_as_the_api_describes_it(
    name: str, function: Callable[..., Request[Any]], operations: dict[str, dict[str, Any]]
) -> None:
    request = make_example_request(function)
    told = operations[operation_of(request, operations)]
    asked = {parameter["name"]: parameter["in"] for parameter in told.get("parameters", ())}
    assert set(request.query) <= {key for key, place in asked.items() if place == "query"}
    assert {key for key in request.headers if key != "Accept"} <= {key for key, place in asked.items() if place == "header"}
    if issubclass(request.answer, BaseModel):
        assert request.answer.__name__ in answers_of(told)
    elif request.answer is NoneType:
        assert not any(answers_of(told))
    sent = told.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    named = re.findall(r"#/components/schemas/(\w+)", str(sent))
    assert bool(named) == (request.body is not None)
    if isinstance(request.body, BaseModel):
        assert type(request.body).__name__ in named
    (answered,) = get_args(inspect.signature(function).return_annotation)
    assert answered in (request.answer, None)


def test_no_call_is_missing(operations: dict[str, dict[str, Any]]) -> None:
    there = {operation_of(make_example_request(function), operations) for _, function in list_functions()}
    wanted = {name for name in operations if not name.split(" ")[1].startswith(NOT_FOR_PROGRAMS)}
    assert wanted == there
