"""Makes a valid answer to any schema, as a function of the request alone: foolish, but always in the asked-for form."""

import hashlib
import importlib
import random
import re
import string
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

regex_parser: Any = importlib.import_module("re._parser")  # a pattern's parse tree has no public interface
WORD = re.compile(r"[^\W\d_]{3,}")
SENTENCE = re.compile(r"[^.!?。！？\n]{20,400}[.!?。！？]")
DEFAULT_ITEMS = 3
OPTIONAL_SHARE = 0.8
MAX_DEPTH = 12


@dataclass(frozen=True, slots=True)
class StubPrompt:
    """The part of a request to answer from: its messages, and a random source fixed by its content."""

    step: str
    messages: Sequence[Mapping[str, str]]
    schema: Mapping[str, Any] | None
    body: str
    temperature: float = 0.0
    model: str = ""

    @property
    def last(self) -> str:
        """The last message's text."""
        return self.messages[-1]["content"] if self.messages else ""

    @property
    def text(self) -> str:
        """All messages' text."""
        return "\n".join(m["content"] for m in self.messages)

    def make_dice(self) -> random.Random:
        """Return the same dice for the same request."""
        return random.Random(int.from_bytes(hashlib.sha256(self.body.encode()).digest()[:8]))


def recall_form(prompt: StubPrompt, forms: dict[str, Mapping[str, Any]]) -> StubPrompt:
    """Return a prompt without a schema with that of the step whose form it shows last, as `forms` has it from other requests."""
    if prompt.schema is not None:
        forms |= {prompt.step: prompt.schema} if prompt.schema.get("required") else {}
        return prompt
    for message in reversed(prompt.messages):
        shown = [step for step, form in forms.items() if all(f'"{field}"' in message["content"] for field in form["required"])]
        if shown:
            step = max(shown, key=lambda step: len(forms[step]["required"]))
            return replace(prompt, step=step, schema=forms[step])
    return prompt


class SchemaAnswers:
    """A maker of values for a JSON schema. Words come from the prompt, so that a made-up query finds something."""

    def __init__(self, prompt: StubPrompt) -> None:
        self._dice = prompt.make_dice()
        self._words = WORD.findall(prompt.last[-8_000:]) or ["nothing"]
        self._sentences = SENTENCE.findall(prompt.last[-40_000:])
        self._root: Mapping[str, Any] = prompt.schema or {}

    def answer(self) -> Any:
        """Make a value that satisfies the prompt's schema."""
        return self._make_value(self._root, "", 0)

    def choose_sentence(self) -> str:
        """Choose a sentence of the prompt, word for word, or a few of its words."""
        return self._dice.choice(self._sentences).strip() if self._sentences else self.choose_words(8)

    def choose_words(self, count: int) -> str:
        """Choose some of the prompt's words."""
        return " ".join(self._dice.choice(self._words) for _ in range(count))

    def _make_value(self, schema: Mapping[str, Any], name: str, depth: int) -> Any:
        if reference := schema.get("$ref"):
            return self._make_value({**self._resolve(reference), **{k: v for k, v in schema.items() if k != "$ref"}}, name, depth)
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return self._dice.choice(schema["enum"])
        if options := schema.get("anyOf") or schema.get("oneOf"):
            return self._make_value(options[0] if depth > MAX_DEPTH else self._dice.choice(options), name, depth + 1)
        if parts := schema.get("allOf"):
            merged: dict[str, Any] = {}
            for part in parts:
                merged |= self._resolve(part["$ref"]) if "$ref" in part else part
            return self._make_value(merged, name, depth + 1)
        return self._make_typed(schema, name, depth)

    def _make_typed(self, schema: Mapping[str, Any], name: str, depth: int) -> Any:
        kind = schema.get("type", "object" if "properties" in schema else "string")
        match self._dice.choice(kind) if isinstance(kind, list) else kind:
            case "object":
                return self._make_object(schema, depth)
            case "array":
                return self._make_array(schema, name, depth)
            case "integer":
                low = int(schema.get("minimum", schema.get("exclusiveMinimum", -1) + 1))
                return self._dice.randint(low, int(schema.get("maximum", low + 5)))
            case "number":
                low_number = float(schema.get("minimum", 0.0))
                return round(self._dice.uniform(low_number, float(schema.get("maximum", low_number + 1.0))), 3)
            case "boolean":
                return self._dice.random() < 0.5
            case "null":
                return None
            case _:
                return self._make_string(schema, name)

    def _make_object(self, schema: Mapping[str, Any], depth: int) -> dict[str, Any]:
        required = set(schema.get("required", ()))
        properties: Mapping[str, Any] = schema.get("properties", {})
        chosen = [n for n in properties if n in required or (depth < MAX_DEPTH and self._dice.random() < OPTIONAL_SHARE)]
        return {name: self._make_value(properties[name], name, depth + 1) for name in chosen}

    def _make_array(self, schema: Mapping[str, Any], name: str, depth: int) -> list[Any]:
        low = int(schema.get("minItems", 0))
        high = int(schema.get("maxItems", max(low, DEFAULT_ITEMS)))
        count = low if depth > MAX_DEPTH else self._dice.randint(low, min(high, low + DEFAULT_ITEMS))
        items = schema.get("items", {"type": "string"})
        return [self._make_value(items, name, depth + 1) for _ in range(count)]

    def _make_string(self, schema: Mapping[str, Any], name: str) -> str:
        if pattern := schema.get("pattern"):
            return "".join(self._write_matching(regex_parser.parse(pattern)))
        low, high = int(schema.get("minLength", 0)), int(schema.get("maxLength", 400))
        text = self.choose_words(5) if high < 60 or "query" in name else self.choose_sentence()
        while len(text) < low:
            text = f"{text} {self.choose_words(4)}"
        return text[:high] if len(text[:high].strip()) >= low else "x" * max(low, 1)

    def _resolve(self, reference: str) -> Mapping[str, Any]:
        found: Any = self._root
        for part in reference.removeprefix("#/").split("/"):
            found = found[part]
        resolved: Mapping[str, Any] = found
        return resolved

    def _write_matching(self, parsed: Any) -> Iterator[str]:
        """Yield a short string that matches a parsed pattern: literals, classes, repeats, groups and alternatives."""
        for op, value in parsed:
            match str(op):
                case "LITERAL":
                    yield chr(value)
                case "IN":
                    yield self._choose_member(value)
                case "ANY":
                    yield self._dice.choice(string.ascii_lowercase)
                case "MAX_REPEAT" | "MIN_REPEAT":
                    low, high, repeated = value
                    for _ in range(self._dice.randint(low, min(int(high), low + 4))):
                        yield from self._write_matching(repeated)
                case "SUBPATTERN":
                    yield from self._write_matching(value[-1])
                case "BRANCH":
                    yield from self._write_matching(self._dice.choice(value[1]))
                case "AT":
                    continue
                case other:
                    raise ValueError(f"the stub cannot make up a string for a pattern with {other}")

    def _choose_member(self, members: Any) -> str:
        if str(members[0][0]) == "NEGATE":
            refused = {chr(value) for kind, value in members[1:] if str(kind) == "LITERAL"}
            return self._dice.choice([c for c in string.ascii_lowercase if c not in refused])
        kind, value = self._dice.choice(members)
        match str(kind):
            case "LITERAL":
                return chr(value)
            case "RANGE":
                return chr(self._dice.randint(*value))
            case _:
                return self._dice.choice(string.digits if "DIGIT" in str(value) else string.ascii_lowercase)
