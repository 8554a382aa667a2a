"""A sampled trajectory as rewards read it: strictly. A fault that inference repairs is an error here.

The notation is DeepRubric's (appendix D.1): `<think>`, `<tool_call>` with one JSON object, `<answer>`; and `<plan>`, which MaMs
writes. Tags may not nest. Only the text in the one `<answer>` of the last step is the report.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from app.domain.chat import ToolCall
from app.domain.trajectory import Trajectory, TurnKind

TOOLS = frozenset({"search", "scholar", "browse"})
_TAG = re.compile(r"<(/?)(think|plan|tool_call|answer)>")


@dataclass(frozen=True, slots=True)
class Block:
    """The text between a tag and its end."""

    tag: str
    text: str


@dataclass(frozen=True, slots=True)
class TranscriptStep:
    """One output of the policy, and the observations of its tool calls.

    `well_formed`: every tag is closed, no tag stands in another, and there is no text outside of tags. `calls` are the valid tool
    calls, one for each query of a list, and `worked_calls` the number of those that a tool answered: it reported no error, and
    the agent's loop did not refuse the call. `failed_calls` counts the invalid blocks (no JSON object, no known tool, no
    argument) and the calls whose tool reported an error.
    """

    blocks: tuple[Block, ...]
    well_formed: bool
    calls: tuple[ToolCall, ...] = ()
    worked_calls: int = 0
    failed_calls: int = 0
    observations: tuple[str, ...] = ()

    @property
    def thought(self) -> str:
        """The text of all its thoughts."""
        return "\n".join(block.text for block in self.blocks if block.tag == "think").strip()

    @property
    def used_a_tool(self) -> bool:
        """Whether the step tried a tool call."""
        return bool(self.calls) or self.failed_calls > 0

    @property
    def tool_succeeded(self) -> bool:
        """Whether tools answered the step, and none of its calls failed. A loop may leave out calls above its limit."""
        return self.worked_calls > 0 and self.failed_calls == 0


@dataclass(frozen=True, slots=True)
class Transcript:
    """The steps of one agent, in order."""

    steps: tuple[TranscriptStep, ...]

    @property
    def calls(self) -> list[ToolCall]:
        """All valid tool calls, in order."""
        return [call for step in self.steps for call in step.calls]

    @property
    def answer(self) -> str:
        """The report: the one answer of the last step; empty when the step has none, or more than one."""
        answers = [block.text for block in self.steps[-1].blocks if block.tag == "answer"] if self.steps else []
        return answers[0].strip() if len(answers) == 1 else ""


def read_step(
    output: str, observed: Sequence[str] = (), errors: int = 0, tools: Collection[str] = TOOLS, worked: int | None = None
) -> TranscriptStep:
    """Read one output with its observations; `errors` counts the calls whose tool reported an error.

    `worked` counts those that a tool answered; None: all others.
    """
    blocks, well_formed = _read_blocks(output)
    read = [_read_calls(block.text, tools) for block in blocks if block.tag == "tool_call"]
    invalid = read.count(())
    calls = tuple(call for of_block in read for call in of_block)
    answered = len(calls) - errors if worked is None else min(worked, len(calls))
    return TranscriptStep(tuple(blocks), well_formed and not invalid, calls, max(0, answered), invalid + errors, tuple(observed))


def transcript_of(trajectory: Trajectory, agent: str, tools: Collection[str] = TOOLS) -> Transcript:
    """Return the transcript of one agent of a trajectory."""
    return Transcript(tuple(_read_steps(trajectory, agent, tools)))


def _read_steps(trajectory: Trajectory, agent: str, tools: Collection[str]) -> Iterator[TranscriptStep]:
    output: str | None = None
    observed: list[str] = []
    errors = worked = 0
    for turn in (turn for turn in trajectory.turns if turn.agent == agent):
        if turn.kind is TurnKind.MODEL and turn.completion is not None:
            if output is not None:
                yield read_step(output, observed, errors, tools, worked)
            output, observed, errors, worked = turn.completion.text, [], 0, 0
        elif turn.result is not None:
            errors += bool(turn.result.error)
            worked += not turn.result.error
            observed += [text for passage in turn.result.passages for text in (passage.source.title, passage.text)]
    if output is not None:
        yield read_step(output, observed, errors, tools, worked)


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
