"""A user's own files, as a corpus. Every file is either read or reported."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from app.domain.errors import InvalidInput
from app.domain.evidence import Source, snapshot_hash
from retrieval.corpora.ports import Unreadable
from retrieval.ports import Document


class Folder:
    """The files under `root`, in alphabetical order."""

    def __init__(self, root: Path) -> None:
        if not root.is_dir():
            raise InvalidInput(f"{root.name!r} is not a folder")
        self._root = root

    def documents(self) -> Iterator[Document | Unreadable]:
        """One document a file."""
        for path in sorted(self._root.rglob("*.txt")):
            text = path.read_text(encoding="utf-8", errors="replace").strip()
            relative = path.relative_to(self._root).as_posix()
            url = f"file:///{quote(self._root.name)}/{quote(relative)}"
            yield Document(source=Source(url=url, title=path.stem, snapshot=snapshot_hash(text)), text=text)
