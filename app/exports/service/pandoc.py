"""Run Pandoc. It reads only standard input, and no file or address that the input names (`--sandbox`)."""

import subprocess
from collections.abc import Sequence
from pathlib import Path

# Pandoc's own limit of its heap: it refuses larger documents before the machine suffers.
HEAP = "1g"


class PandocFailed(Exception):
    """The error of a document that Pandoc refused, with Pandoc's words."""


def run_pandoc(content: bytes, *arguments: str) -> bytes:
    """Return Pandoc's output for `content`.

    Raises:
        PandocFailed: Pandoc refused the input.
    """
    command: Sequence[str] = (_find_binary(), "--sandbox", *arguments, "+RTS", f"-M{HEAP}", "-RTS")
    done = subprocess.run(command, input=content, capture_output=True, check=False)
    if done.returncode:
        raise PandocFailed(done.stderr.decode(errors="replace")[-1000:])
    return done.stdout


def _find_binary() -> str:
    """Return the program inside the package: the one on the path may be another version."""
    import pypandoc

    return str(Path(pypandoc.__file__).parent / "files" / "pandoc")
