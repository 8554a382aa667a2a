"""Forms that an MCP server sends in the midst of a call, where no person is."""

from typing import Any

import pytest
from mcp_types import ElicitRequestFormParams, ElicitRequestURLParams

from retrieval.outside.mcp.forms import answer_form

YEAR = {"type": "integer", "default": 1660}
NAME = {"type": "string"}
CONTEXT: Any = None


def form_of(required: list[str], **fields: Any) -> ElicitRequestFormParams:
    schema = {"type": "object", "properties": fields, "required": required}
    return ElicitRequestFormParams(message="Which?", requested_schema=schema)


async def test_a_form_gets_its_own_defaults() -> None:
    answer = await answer_form(CONTEXT, form_of(["year"], year=YEAR, name=NAME))
    assert (answer.action, answer.content) == ("accept", {"year": 1660})


@pytest.mark.parametrize("asked", [form_of(["name"], year=YEAR, name=NAME), form_of([], name=NAME), form_of([])])
async def test_what_only_a_person_can_fill_in_is_declined(asked: ElicitRequestFormParams) -> None:
    assert (await answer_form(CONTEXT, asked)).action == "decline"


async def test_a_form_at_an_address_is_declined() -> None:
    asked = ElicitRequestURLParams(message="Sign in", url="https://example.org", elicitation_id="e1")
    assert (await answer_form(CONTEXT, asked)).action == "decline"
