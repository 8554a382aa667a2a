"""A step: one question of an agent to a model, with the form of its answer. Schemas are made once, at import."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Generic, TypeAlias, TypeVar

import orjson
from pydantic import BaseModel, ConfigDict, model_validator

from app.domain.chat import ResponseSchema
from app.domain.safe_text import make_safe_value

KEPT_KEYWORDS = ("type", "enum", "description")


class StepAnswer(BaseModel):
    """The base of all step answers. It is tolerant: models forget fields and write one value where a list belongs.

    `main` names the field that a bare string stands for.
    """

    model_config = ConfigDict(frozen=True, extra="ignore", coerce_numbers_to_str=True)
    main: ClassVar[str] = ""

    @model_validator(mode="before")
    @classmethod
    def _forgive(cls, data: Any) -> Any:
        data = make_safe_value(data)
        if isinstance(data, str) and cls.main:
            return {cls.main: data}
        names, lists = _fields_of(cls)
        if isinstance(data, list) and data and len(lists) == 1:
            data = {lists[0]: data}
        if not isinstance(data, dict):
            return data
        if len(data) == 1 and isinstance(inner := next(iter(data.values())), dict) and names & inner.keys():
            data = inner if not names & data.keys() else data
        return {k: _as_list(v) if k in lists else v for k, v in data.items() if k in names and v is not None}


def _fields_of(answer: type[StepAnswer]) -> tuple[frozenset[str], tuple[str, ...]]:
    """Return the names of an answer's fields, and of those that are lists."""
    fields = answer.model_fields
    lists = tuple(name for name, field in fields.items() if getattr(field.annotation, "__origin__", None) is tuple)
    return frozenset(fields), lists


def _as_list(value: Any) -> Any:
    return value if isinstance(value, list | tuple) else [value] if value != "" else []


A = TypeVar("A", bound=StepAnswer, covariant=True)
LooseReader: TypeAlias = Callable[[str], Mapping[str, Any] | None]


def _read_nothing(_: str) -> Mapping[str, Any] | None:
    return None


@dataclass(frozen=True, slots=True)
class Step(Generic[A]):
    """A structured step. `outline` shows the form in the prompt; `loose` reads other notations, such as a tagged tool call.

    `form` names the prompt piece that explains the tagged notation. `spare` names fields that a small model need not fill.
    """

    name: str
    answer: type[A]
    max_tokens: int
    schema: ResponseSchema
    outline: str
    loose: LooseReader = _read_nothing
    form: str = "form_tags"
    spare: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class TextStep:
    """A step whose answer is free Markdown, without a schema."""

    name: str
    max_tokens: int


AnyStep: TypeAlias = Step[StepAnswer] | TextStep


def declare_step(
    name: str,
    answer: type[A],
    max_tokens: int,
    loose: LooseReader = _read_nothing,
    form: str = "form_tags",
    spare: Iterable[str] = (),
) -> Step[A]:
    """Declare a step; its JSON schema is compiled here, once."""
    raw = answer.model_json_schema()
    schema = simplify_schema(raw, raw.get("$defs", {}))
    named = ResponseSchema(name=name, schema=schema)
    return Step(name, answer, max_tokens, named, outline_of(schema), loose, form, frozenset(spare))


def shorten_step(step: Step[A]) -> Step[A]:
    """Return a step that asks for fewer fields: a field less to fill is a loop less to fall into."""
    if not step.spare:
        return step
    schema = _drop_fields(step.schema.schema_, step.spare)
    return replace(step, schema=step.schema.model_copy(update={"schema_": schema}), outline=outline_of(schema))


def _drop_fields(node: Mapping[str, Any], names: frozenset[str]) -> dict[str, Any]:
    kept = dict(node)
    if "properties" in node:
        kept["properties"] = {k: _drop_fields(v, names) for k, v in node["properties"].items() if k not in names}
        kept["required"] = list(kept["properties"])
    if "items" in node:
        kept["items"] = _drop_fields(node["items"], names)
    return kept


def outline_of(schema: Mapping[str, Any]) -> str:
    """Return the form of an answer as the prompt shows it."""
    return orjson.dumps(_sketch(schema), option=orjson.OPT_INDENT_2).decode()


def simplify_schema(node: Mapping[str, Any], definitions: Mapping[str, Any]) -> dict[str, Any]:
    """Reduce a schema to the part of JSON Schema that every engine's constrained decoding understands.

    The result has no references, bounds, defaults or titles; every property is required, and no others are allowed.
    """
    if "$ref" in node:
        target = definitions[node["$ref"].rsplit("/", 1)[1]]
        return simplify_schema({**target, **{k: v for k, v in node.items() if k != "$ref"}}, definitions)
    plain: dict[str, Any] = {k: node[k] for k in KEPT_KEYWORDS if k in node and (k != "description" or "properties" not in node)}
    if "properties" in node:
        plain["properties"] = {k: simplify_schema(v, definitions) for k, v in node["properties"].items()}
        plain["required"] = list(node["properties"])
        plain["additionalProperties"] = False
    if "items" in node:
        plain["items"] = simplify_schema(node["items"], definitions)
    return plain


def _sketch(schema: Mapping[str, Any]) -> Any:
    if "properties" in schema:
        return {name: _sketch(child) for name, child in schema["properties"].items()}
    if schema.get("type") == "array":
        described = f"<{schema['description']}>" if "description" in schema else None
        item = _sketch(schema["items"])
        return [described] if described and isinstance(item, str) else [item]
    if "enum" in schema:
        return " | ".join(str(option) for option in schema["enum"])
    return f"<{schema.get('description') or schema.get('type', 'string')}>"
