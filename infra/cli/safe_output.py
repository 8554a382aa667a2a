"""Keep what others wrote from commanding the terminal: everything that a command prints goes through here."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO

from app.domain.safe_text import make_safe


class SafeStream:
    """A stream of text that writes no control characters and no turns of direction to another; all else is the other's."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        """Write the safe text."""
        return self.stream.write(make_safe(text))

    def __getattr__(self, name: str) -> Any:
        """Return what the other stream has."""
        return getattr(self.stream, name)


@contextmanager
def print_safely() -> Iterator[None]:
    """Print safely until the block ends, on both streams."""
    out, error = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = SafeStream(out), SafeStream(error)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = out, error


def find_terminal() -> TextIO:
    """Return standard output as it is, for a library that draws and commands it. Give it safe text only."""
    return sys.stdout.stream if isinstance(sys.stdout, SafeStream) else sys.stdout
