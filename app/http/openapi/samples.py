"""Make an example for a schema that has none of its own: the first value that it allows."""

from collections.abc import Mapping
from typing import Any

FORMATS = {
    "uuid": "6f9619ff-8b86-4d01-b42d-00cf4fc964ff",
    "date-time": "2026-11-20T15:00:00Z",
    "date": "2026-11-20",
    "uri": "https://example.org/",
    "email": "ada@example.org",
}

PATTERNS = {"^[0-9a-f]{64}$": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"}


def sample_of(schema: Mapping[str, Any], schemas: Mapping[str, Any]) -> Any:
    """Return a value of this schema. `schemas` are those that a `$ref` may name."""
    if "$ref" in schema:
        return sample_of(schemas[schema["$ref"].rpartition("/")[2]], schemas)
    for given in ("examples", "enum"):
        if schema.get(given):
            return schema[given][0]
    for given in ("example", "const", "default"):
        if given in schema:
            return schema[given]
    for choice in ("anyOf", "oneOf", "allOf"):
        if choice in schema:
            return sample_of(schema[choice][0], schemas)
    return _sample_of_type(schema, schemas)


def _sample_of_type(schema: Mapping[str, Any], schemas: Mapping[str, Any]) -> Any:
    kinds = schema.get("type", "object" if "properties" in schema else "null")
    match kinds[0] if isinstance(kinds, list) else kinds:
        case "object":
            required = schema.get("required", ())
            return {name: sample_of(part, schemas) for name, part in schema.get("properties", {}).items() if name in required}
        case "array" if "prefixItems" in schema:
            return [sample_of(part, schemas) for part in schema["prefixItems"]]
        case "array":
            return [sample_of(schema["items"], schemas)] * max(schema.get("minItems", 0), 1) if "items" in schema else []
        case "string":
            known = FORMATS.get(schema.get("format", "")) or PATTERNS.get(schema.get("pattern", ""))
            return known or "x" * max(schema.get("minLength", 0), 1)
        case "integer" | "number":
            return schema.get("minimum", schema.get("exclusiveMinimum", 0) + 1)
        case "boolean":
            return True
        case _:
            return None
