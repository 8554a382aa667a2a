"""A step: one thing an agent asks a model for, with the form its answer must have. Schemas are made once, at import."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import orjson
from pydantic import BaseModel, ConfigDict

from app.domain.chat import ResponseSchema

KEPT = ("type", "enum", "description")


class Answer(BaseModel):
    """The base of what steps answer. Unknown fields are dropped, and every field may be missing: models forget things."""

    model_config = ConfigDict(frozen=True, extra="ignore", coerce_numbers_to_str=True)


A = TypeVar("A", bound=Answer)
Loose = Callable[[str], Mapping[str, Any] | None]


def _nothing(_: str) -> Mapping[str, Any] | None:
    return None


@dataclass(frozen=True, slots=True)
class Step(Generic[A]):
    """A structured step. `loose` reads other notations of the same answer, such as a tagged tool call."""

    name: str
    answer: type[A]
    max_tokens: int
    schema: ResponseSchema
    outline: str
    loose: Loose = _nothing


@dataclass(frozen=True, slots=True)
class TextStep:
    """A step whose answer is free Markdown, which no schema should squeeze into a string."""

    name: str
    max_tokens: int


def step(name: str, answer: type[A], max_tokens: int, loose: Loose = _nothing) -> Step[A]:
    """Declare a step; its JSON schema is compiled here, once."""
    raw = answer.model_json_schema()
    schema = plain_schema(raw, raw.get("$defs", {}))
    outline = orjson.dumps(_sketch(schema), option=orjson.OPT_INDENT_2).decode()
    return Step(name, answer, max_tokens, ResponseSchema(name=name, schema=schema), outline, loose)


def plain_schema(node: Mapping[str, Any], definitions: Mapping[str, Any]) -> dict[str, Any]:
    """The part of JSON Schema that every engine's constrained decoding understands.

    No references, bounds, defaults or titles; every property required, no further ones.
    """
    if "$ref" in node:
        target = definitions[node["$ref"].rsplit("/", 1)[1]]
        return plain_schema({**target, **{k: v for k, v in node.items() if k != "$ref"}}, definitions)
    plain: dict[str, Any] = {k: node[k] for k in KEPT if k in node}
    if "properties" in node:
        plain["properties"] = {k: plain_schema(v, definitions) for k, v in node["properties"].items()}
        plain["required"] = list(node["properties"])
        plain["additionalProperties"] = False
    if "items" in node:
        plain["items"] = plain_schema(node["items"], definitions)
    return plain


def _sketch(schema: Mapping[str, Any]) -> Any:
    """An example-like outline of a schema, for the prompt."""
    if "properties" in schema:
        return {name: _sketch(child) for name, child in schema["properties"].items()}
    if schema.get("type") == "array":
        return [_sketch(schema["items"])]
    if "enum" in schema:
        return " | ".join(str(option) for option in schema["enum"])
    return f"<{schema.get('description') or schema.get('type', 'string')}>"
