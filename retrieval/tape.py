"""A tape of tool calls and their results in one file, played back by tests, evaluation and reinforcement learning.

The file is JSON Lines, one call on each line: `{"call": ..., "result": ...}`. Its order does not depend on that of the calls.
"""

from pathlib import Path

from pydantic import ValidationError

from app.domain.chat import ToolCall, ToolResult
from app.domain.errors import InvalidInput
from app.domain.tool_key import call_key_of
from app.domain.trajectory import TapedCall


class Tape:
    """Recorded calls. Calls are equal by the same key as in a run's tool memory."""

    def __init__(self) -> None:
        self._lines: dict[str, TapedCall] = {}

    def __len__(self) -> int:
        return len(self._lines)

    @property
    def names(self) -> frozenset[str]:
        """The names of the tools that were called."""
        return frozenset(line.call.name for line in self._lines.values())

    def play(self, call: ToolCall) -> ToolResult | None:
        """Return the recorded result of a call; None when there is none."""
        line = self._lines.get(call_key_of(call.name, call.arguments))
        return line.result if line else None

    def record(self, call: ToolCall, result: ToolResult) -> None:
        """Record the result of a call. The first recording stays."""
        self._lines.setdefault(call_key_of(call.name, call.arguments), TapedCall(call=call, result=result))

    def save(self, path: Path) -> None:
        """Write all calls to a file, and replace its content."""
        lines = (line.model_dump_json(exclude_defaults=True) for _, line in sorted(self._lines.items()))
        path.write_text("".join(f"{line}\n" for line in lines), "utf-8")

    @classmethod
    def load(cls, path: Path) -> "Tape":
        """Read a file.

        Raises:
            InvalidInput: the file is not a tape; the message names the line.
        """
        tape = cls()
        for number, raw in enumerate(path.read_bytes().splitlines(), start=1):
            try:
                line = TapedCall.of_any_version(raw)
            except ValidationError as error:
                raise InvalidInput(f"{path}, line {number}: not a recorded call") from error
            tape.record(line.call, line.result)
        return tape
