"""The stub's bill: an append-only file with one line for each model call, so that double billing is counted from outside."""

import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self


@dataclass(frozen=True, slots=True)
class BillLine:
    """One model call as its server saw it.

    `body` is SHA-256 of the request's bytes; `key` is the product's own digest of the same request, for comparison with
    stored turns. Times are Unix seconds. `outcome` is `answered` (the whole response left the server), `aborted` (the
    caller went away first) or the name of the fault that was injected instead of an answer.
    """

    body: str
    key: str
    step: str
    start: float
    end: float
    outcome: str
    input_tokens: int = 0
    output_tokens: int = 0


class Bill:
    """A writer of the bill; each line reaches the kernel before the next call is looked at. Without a path it only counts."""

    def __init__(self, path: Path | None) -> None:
        self.outcomes: dict[str, int] = {}
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600) if path else None

    def add(self, line: BillLine) -> None:
        """Append one line."""
        self.outcomes[str(line.outcome)] = self.outcomes.get(str(line.outcome), 0) + 1
        if self._file is not None:
            os.write(self._file, json.dumps(asdict(line)).encode() + b"\n")

    def close(self) -> None:
        """Release the file."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def read_bill(path: Path) -> Iterator[BillLine]:
    """Yield all lines of a bill, in the order in which calls ended."""
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            yield BillLine(**json.loads(line))
