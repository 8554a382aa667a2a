"""A tape: the results of calls, saved to one file and played back, for tests, evaluation and reinforcement learning.

The file is JSON Lines, one call a line: `{"key", "call", "result"}` or `{"key", "call", "error"}`. Lines stand in the order of
their keys, so that the same calls make the same file whatever order they were made in.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from app.domain.errors import InvalidInput


class Played(NamedTuple):
    """What a call brought when it was recorded: a result (JSON), or the message of its failure."""

    result: Any
    error: str


class Tape:
    """Recorded calls by their key."""

    def __init__(self, lines: Mapping[str, bytes] | None = None) -> None:
        self._lines = dict(lines or {})

    def __len__(self) -> int:
        return len(self._lines)

    def play(self, key: str) -> Played | None:
        """What the call of this key brought; None when it was not recorded."""
        line = self._lines.get(key)
        if line is None:
            return None
        told = orjson.loads(line)
        return Played(told.get("result"), told.get("error", ""))

    def record(self, key: str, call: Any, result: Any = None, error: str = "") -> None:
        """Keep a call's result or its failure. The first stays."""
        told = {"key": key, "call": call, **({"error": error} if error else {"result": result})}
        self._lines.setdefault(key, orjson.dumps(told))

    def save(self, path: Path) -> None:
        """Write the file anew."""
        path.write_bytes(b"".join(self._lines[key] + b"\n" for key in sorted(self._lines)))

    @classmethod
    def load(cls, path: Path) -> "Tape":
        """Read a file.

        Raises:
            InvalidInput: it is not a tape; the message names the line.
        """
        lines: dict[str, bytes] = {}
        for number, line in enumerate(path.read_bytes().splitlines(), start=1):
            try:
                lines[orjson.loads(line)["key"]] = line
            except (ValueError, TypeError, KeyError) as error:
                raise InvalidInput(f"{path}, line {number}: not a recorded call") from error
        return cls(lines)
