"""The two notations in which a policy writes, read strictly: DeepRubric's tags (appendix D.1), and the JSON of a schema.

In tags, `<think>`, `<tool_call>` with one JSON object, `<answer>`, and `<plan>`, which MaMs writes, may not nest. By a schema, an
act is one JSON object with `action` and `inputs`; any other output is an answer, in JSON unless the step asks for a text.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import orjson

from app.domain.chat import ToolCall

ACTING = frozenset({"act", "markov_search"})
TEXTS = frozenset({"markov_report", "react_digest", "react_report", "section", "single_pass"})
FINISH = "finish"
_ACT_FIELDS = frozenset({"thought", "plan", "action", "inputs"})
_TAG = re.compile(r"<(/?)(think|plan|tool_call|answer)>")


class Notation(StrEnum):
    """The notation that a policy was asked for. DeepRubric's agent writes tags always."""

    TAGS = "tags"
    SCHEMA = "schema"


@dataclass(frozen=True, slots=True)
class Block:
    """The text between a tag and its end, or the field that stands for it."""

    tag: str
    text: str


@dataclass(frozen=True, slots=True)
class ReadOutput:
    """An output: its blocks, its valid calls, the number of its invalid ones, and whether it has its form."""

    blocks: tuple[Block, ...] = ()
    calls: tuple[ToolCall, ...] = ()
    invalid: int = 0
    well_formed: bool = False


def read_tags(output: str, tools: Collection[str]) -> ReadOutput:
    """Read an output in tags: every tag closes, none stands in another, and there is no text outside."""
    blocks, well_formed = _read_blocks(output)
    read = [_read_calls(block.text, tools) for block in blocks if block.tag == "tool_call"]
    invalid = read.count(())
    return ReadOutput(tuple(blocks), tuple(call for calls in read for call in calls), invalid, well_formed and not invalid)


def read_schema(output: str, step: str, tools: Collection[str]) -> ReadOutput:
    """Read the output of a step that was asked for by a schema."""
    if step in TEXTS:
        return ReadOutput((Block("answer", output),), well_formed=bool(output.strip()))
    try:
        said: Any = orjson.loads(output)
    except orjson.JSONDecodeError:
        return ReadOutput()
    if not isinstance(said, dict):
        return ReadOutput()
    return _read_act(said, tools) if step in ACTING else ReadOutput((Block("answer", output),), well_formed=bool(said))


def _read_act(said: Mapping[str, Any], tools: Collection[str]) -> ReadOutput:
    """Read a thought with calls, one an input, or with the end, which stands for an answer."""
    thoughts = tuple(Block("think", said[name]) for name in ("thought",) if isinstance(said.get(name), str))
    action, inputs = said.get("action"), said.get("inputs", [])
    if said.keys() <= _ACT_FIELDS and action == FINISH and inputs == []:
        return ReadOutput((*thoughts, Block("answer", FINISH)), well_formed=True)
    calls = _make_calls(str(action), "url" if action == "browse" else "query", inputs) if isinstance(inputs, list) else ()
    if said.keys() <= _ACT_FIELDS and str(action) in tools and calls:
        return ReadOutput(thoughts, calls, well_formed=True)
    return ReadOutput(thoughts, invalid=1)


def _make_calls(name: str, argument: str, inputs: list[Any]) -> tuple[ToolCall, ...]:
    calls = [ToolCall(name=name, arguments={argument: one}) for one in inputs if isinstance(one, str) and one.strip()]
    return tuple(calls) if len(calls) == len(inputs) else ()


def _read_blocks(output: str) -> tuple[list[Block], bool]:
    """Return the blocks of an output, and whether it has nothing else. An unclosed or crossed tag ends the reading."""
    blocks: list[Block] = []
    at, opened, outside = 0, "", ""
    for tag in _TAG.finditer(output):
        closing, name = bool(tag.group(1)), tag.group(2)
        if not opened and not closing:
            outside += output[at : tag.start()]
            at, opened = tag.end(), name
        elif opened and closing and name == opened:
            blocks.append(Block(name, output[at : tag.start()]))
            at, opened = tag.end(), ""
        else:
            return blocks, False
    return blocks, not opened and not (outside + output[at:]).strip() and bool(blocks)


def _read_calls(text: str, tools: Collection[str]) -> tuple[ToolCall, ...]:
    """Read `{"name": ..., "arguments": {...}}`, where one argument may be a list: each of its texts is a call of its own.

    Nothing is read without a known tool, or without an argument that is not blank.
    """
    try:
        said: Any = orjson.loads(text)
    except orjson.JSONDecodeError:
        return ()
    if not isinstance(said, dict) or str(said.get("name")) not in tools or not isinstance(said.get("arguments"), dict):
        return ()
    arguments = said["arguments"]
    listed = next((name for name, value in arguments.items() if isinstance(value, list)), None)
    ways = [{**arguments, listed: each} for each in arguments[listed]] if listed is not None else [arguments]
    calls = tuple(ToolCall(name=said["name"], arguments=way) for way in ways if _says_something(way))
    return calls if len(calls) == len(ways) else ()


def _says_something(arguments: Mapping[str, Any]) -> bool:
    """Say whether some argument is a text that is not blank, and none is a list."""
    values = arguments.values()
    return any(isinstance(value, str) and value.strip() for value in values) and not any(isinstance(v, list) for v in values)
