"""The lines of a corpus's files."""

import zlib
from collections.abc import Iterator
from typing import IO, NamedTuple

from retrieval.corpora.ports import UnreadableItem
from retrieval.corpora.shards import Shards

MAX_LINE = 64 << 20
_STEP = 1 << 20


class CorpusLine(NamedTuple):
    """A line, its number in its file, and the file's name."""

    file: str
    number: int
    content: bytes

    @property
    def where(self) -> str:
        """The line's place, as reports name it."""
        return f"{self.file}:{self.number}"


def read_lines(shards: Shards) -> Iterator[CorpusLine | UnreadableItem]:
    """Yield every line that is not empty. A cut-off or damaged file gives a report, and the next file follows."""
    for name, content in shards.open_each():
        number = 0
        try:
            while line := content.readline(MAX_LINE):
                number += 1
                if len(line) == MAX_LINE:
                    yield UnreadableItem(f"{name}:{number}", f"is longer than {MAX_LINE >> 20} MiB")
                    _skip_line(content)
                elif line.strip():
                    yield CorpusLine(name, number, line)
        except (OSError, EOFError, zlib.error) as error:
            yield UnreadableItem(name, f"cut off or damaged after line {number}: {error}")


def _skip_line(content: IO[bytes]) -> None:
    while (piece := content.readline(_STEP)) and not piece.endswith(b"\n"):
        pass
