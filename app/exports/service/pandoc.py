"""Running Pandoc. It gets its whole input on standard input and may read no file and no address of the input's (`--sandbox`)."""

import subprocess
from collections.abc import Sequence
from pathlib import Path

# Pandoc's own bound of its heap; what is larger is refused before the machine suffers.
HEAP = "1g"


class PandocFailed(Exception):
    """Pandoc made nothing; its own words."""


def pandoc(content: bytes, *arguments: str) -> bytes:
    """Pandoc's output for `content`.

    Raises:
        PandocFailed: it refused.
    """
    command: Sequence[str] = (_binary(), "--sandbox", *arguments, "+RTS", f"-M{HEAP}", "-RTS")
    done = subprocess.run(command, input=content, capture_output=True, check=False)
    if done.returncode:
        raise PandocFailed(done.stderr.decode(errors="replace")[-1000:])
    return done.stdout


def _binary() -> str:
    """The one inside the package: which one is on the path is the machine's affair."""
    import pypandoc

    return str(Path(pypandoc.__file__).parent / "files" / "pandoc")
