"""Files with secrets."""

import os
from pathlib import Path


def write_private_file(path: Path, text: str) -> None:
    """Write a file that only its owner may read. After a power cut it is whole or absent, never empty."""
    scratch = path.with_name(f"{path.name}.new")
    with os.fdopen(os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    scratch.rename(path)
    folder = os.open(path.parent, os.O_RDONLY)
    os.fsync(folder)
    os.close(folder)
