"""What is wrong with a field is said in sentences that tell what to give."""

import re
from datetime import date, datetime
from enum import StrEnum
from typing import Annotated, Any, Literal
from uuid import UUID

import pytest
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from app.http.refused_fields import list_refused_fields
from tests.app.served_api import ApiClient


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


class Every(BaseModel):
    model_config = ConfigDict(extra="forbid")

    text: Annotated[str, Field(min_length=2, max_length=4, pattern="^[a-z]+$")] = "abc"
    whole: Annotated[int, Field(ge=1, le=9)] = 1
    number: Annotated[float, Field(gt=0, lt=1)] = 0.5
    truth: bool = True
    colour: Colour = Colour.RED
    word: Literal["yes", "no"] = "yes"
    many: Annotated[list[int], Field(min_length=1, max_length=2)] = [1]
    names: dict[str, int] = {}
    day: date = date(2026, 1, 1)
    moment: datetime = datetime(2026, 1, 1)
    id: UUID = UUID(int=1)


WRONG: list[tuple[str, Any, str]] = [
    ("text", "a", "2 characters or more"),
    ("text", "abcde", "4 characters or less"),
    ("text", "ABC", r"matches \^"),
    ("text", 5, "give a text"),
    ("whole", "x", "whole number"),
    ("whole", 0, "1 or more"),
    ("whole", 10, "9 or less"),
    ("number", 0, "more than 0"),
    ("number", 1, "less than 1"),
    ("number", "x", "give a number"),
    ("truth", "perhaps", "true or false"),
    ("colour", "green", "'red' or 'blue'"),
    ("word", "perhaps", "'yes' or 'no'"),
    ("many", [], "a list of 1 or more"),
    ("many", [1, 2, 3], "a list of 2 or less"),
    ("many", 1, "give a list"),
    ("names", [], "give a JSON object"),
    ("day", "soon", "give a day, as 2026"),
    ("moment", "soon", "give a moment, as 2026"),
    ("id", "x", "give an id, as"),
    ("more", 1, "no field of this name"),
]


@pytest.mark.parametrize(("field", "given", "said"), WRONG)
def test_each_kind_of_fault_says_what_to_give(field: str, given: Any, said: str) -> None:
    with pytest.raises(ValidationError) as caught:
        Every.model_validate({field: given})
    [refused] = list_refused_fields(caught.value)
    assert refused["field"] == field
    assert re.search(said, refused["message"])


async def test_the_api_speaks_so(api: ApiClient) -> None:
    reply = await api.post("/v1/runs", {"effort": "endless", "budget": {"max_tokens": "many"}})
    assert reply.is_problem(400)
    said = reply.json["detail"]
    assert "question: it is required: add it" in said
    assert "budget.max_tokens: give a whole number" in said
    assert "Input should" not in said
    assert (await api.post("/v1/runs", ["x"])).json["errors"] == [{"field": "", "message": "give a JSON object"}]
