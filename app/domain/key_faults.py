"""What is wrong with a file that a person wrote, in words: of a key that is not known, the known one that is most like it."""

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from pydantic import BaseModel, ValidationError

UNKNOWN = "extra_forbidden"


def describe_faults(error: ValidationError, form: type[BaseModel], nameless: str = "") -> list[str]:
    """Return each fault with its key; what no key is to blame for stands under `nameless`, or alone."""
    schema = form.model_json_schema() if any(fault["type"] == UNKNOWN for fault in error.errors()) else {}
    return [_describe(fault, schema, nameless) for fault in error.errors()]


def _describe(fault: Mapping[str, Any], schema: Mapping[str, Any], nameless: str) -> str:
    where = ".".join(map(str, fault["loc"])) or nameless
    said = str(fault["msg"]).removeprefix("Value error, ")
    if fault["type"] == UNKNOWN:
        near = get_close_matches(str(fault["loc"][-1]), _list_keys(schema, fault["loc"][:-1]), n=1)
        said = f"there is no such key{f'; is {near[0]} meant?' if near else ''}"
    return f"{where}: {said}" if where else said


def _list_keys(schema: Mapping[str, Any], loc: Sequence[str | int]) -> list[str]:
    """List the keys that a schema has at a place."""
    node = schema
    for part in loc:
        node = _resolve(schema, node["items"] if isinstance(part, int) else node["properties"][part])
    return list(node["properties"])


def _resolve(schema: Mapping[str, Any], node: Mapping[str, Any]) -> Mapping[str, Any]:
    """Follow references, and of several forms take the one that has keys."""
    forms = [form for form in node.get("anyOf", ()) if "$ref" in form]
    if forms:
        node = forms[0]
    return schema["$defs"][node["$ref"].rpartition("/")[2]] if "$ref" in node else node
