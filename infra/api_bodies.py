"""Write the bodies of all routes into docs/api.md: `python -m infra.api_bodies`. They are those of the API's description."""

import asyncio
from collections.abc import Iterator, Mapping
from typing import Any

from infra.client_code import ROOT, fetch_description

PAGE = ROOT / "docs" / "api.md"
BEGIN, END = "<!-- written by `python -m infra.api_bodies` -->\n", "<!-- end -->\n"
JSON = "application/json"
# Deeper parts have a route or a page of their own.
DEEPEST = 3
MOST_CHOICES = 8

Schema = Mapping[str, Any]


def main() -> None:
    """Write the bodies again."""
    PAGE.write_text(write_page(PAGE.read_text("utf-8")), encoding="utf-8")


def write_page(page: str) -> str:
    """Return the page with the bodies of this checkout's API."""
    before, _, rest = page.partition(BEGIN)
    rows = "\n".join(list_bodies(asyncio.run(fetch_description())))
    return f"{before}{BEGIN}\n{rows}\n\n{END}{rest.partition(END)[2]}"


def list_bodies(document: Mapping[str, Any]) -> Iterator[str]:
    """Yield a row of the table for each route that takes a body."""
    schemas = document["components"]["schemas"]
    yield "| | body |"
    yield "|---|---|"
    for path, operations in sorted(document["paths"].items()):
        for method, operation in operations.items():
            if content := operation.get("requestBody", {}).get("content"):
                kind, described = next(iter(content.items()))
                form = "" if kind == JSON else f" as `{kind}`"
                yield f"| `{method.upper()} {path}` | `{write_body(described['schema'], schemas)}`{form} |"


def write_body(schema: Schema, schemas: Mapping[str, Schema], depth: int = 0) -> str:
    """Return the names of a body's fields, with `?` behind those that may be left out, and what may stand in them."""
    if "$ref" in schema:
        return write_body(schemas[schema["$ref"].rpartition("/")[2]], schemas, depth)
    for several in ("oneOf", "anyOf", "allOf"):
        if several in schema:
            parts = [write_body(part, schemas, depth) for part in schema[several] if part.get("type") != "null"]
            return " or ".join(dict.fromkeys(parts))
    if "enum" in schema or "const" in schema:
        choices = [choice for choice in schema.get("enum", [schema.get("const")]) if choice is not None]
        return " or ".join(f'"{choice}"' for choice in choices) if len(choices) <= MOST_CHOICES else "text"
    if schema.get("properties"):
        return _write_object(schema, schemas, depth)
    if schema.get("type") == "array":
        return f"[{write_body(schema.get('items', {}), schemas, depth)}]"
    return NAMES.get(str(schema.get("format")), NAMES.get(str(schema.get("type")), "any"))


def _write_object(schema: Schema, schemas: Mapping[str, Schema], depth: int) -> str:
    if depth == DEEPEST:
        return "{…}"
    required = schema.get("required", ())
    fields = (
        f'"{name}"{"" if name in required else "?"}: {write_body(part, schemas, depth + 1)}'
        for name, part in schema["properties"].items()
    )
    return f"{{{', '.join(fields)}}}"


NAMES = {
    "string": "text",
    "integer": "whole number",
    "number": "number",
    "boolean": "true or false",
    "object": "{…}",
    "date": "day",
    "date-time": "moment",
    "uuid": "id",
    "uri": "address",
    "binary": "file",
}

if __name__ == "__main__":
    main()
