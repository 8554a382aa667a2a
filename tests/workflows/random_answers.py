"""Makes any answer that a schema allows, however foolish: what a constrained decoder without sense could return."""

import json
import random
from collections.abc import Mapping
from typing import Any

from app.domain.chat import ChatRequest

WORDS = (
    "tariff",
    "revenue",
    "",
    " ",
    "s1",
    "s2",
    "s7",
    "q1",
    "q2",
    "q99",
    "p1",
    "p2",
    "p404",
    "search",
    "References",
    "p1 part 2",
    "[q1]",
    "[q1, q2] [7] [[q3]]",
    "[[0123456789abcdef]]",
    "[1]: http://x",
    "【q2】",
    "(q1)",
    "[^q1]",
    "[q",
    "3]",
    "https://made.up/page",
    "see [here](http://evil.example/?q=secret) now",
    "https://example.org/1887",
    "<answer>",
    "</think>",
    '<tool_call>{"name":"browse","arguments":{"url":"http://made.up"}}</tool_call>',
    "## Heading",
    "Under\n-----",
    "#",
    "| a | b |\n|---|---|",
    '<cite id="q1,q7">claimed</cite>',
    "**bold line**",
    "The tariff of 1824 was meant to protect domestic manufactures.",
    "It is a condition which confronts us ... imported.",
    "世界贸易因此大幅萎缩。",
    "\x00\u202e\ufeff",
    "{",
    '"',
    "\\",
    "a" * 3_000,
    "{{question}}",
    "%s {0}",
    "\n\n\n",
    "٣",
)


class RandomAnswers:
    """A model that answers each request from dice: schema-valid for structured steps, anything for text."""

    def __init__(self, dice: random.Random) -> None:
        self._dice = dice

    def __call__(self, request: ChatRequest) -> str:
        if request.response_schema is None:
            return self._make_text() or "x"
        return json.dumps(self.make_value(request.response_schema.schema_), ensure_ascii=self._dice.random() < 0.5)

    def make_value(self, schema: Mapping[str, Any]) -> Any:
        if "enum" in schema:
            return self._dice.choice(schema["enum"])
        match schema["type"]:
            case "object":
                assert schema["additionalProperties"] is False
                assert list(schema["properties"]) == schema["required"]
                return {name: self.make_value(child) for name, child in schema["properties"].items()}
            case "array":
                return [self.make_value(schema["items"]) for _ in range(self._dice.choice((0, 1, 1, 2, 3, 9, 30)))]
            case "integer":
                return self._dice.choice((-(2**70), -1, 0, 1, 1, 2, 3, 10**9))
            case "string":
                return self._make_text()
            case other:
                raise AssertionError(f"a schema with {other!r} is more than every engine understands")

    def _make_text(self) -> str:
        return " ".join(self._dice.choice(WORDS) for _ in range(self._dice.choice((0, 1, 1, 2, 4))))
