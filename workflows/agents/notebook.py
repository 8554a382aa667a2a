"""The passages an agent has seen, under short ids, and the addresses that a search returned."""

import re
from collections.abc import Iterable, Sequence

from app.domain.chat import Message, ShownPassage
from app.domain.evidence import Passage, Source
from workflows.agents.passage_ids import list_shown_passages

_ID = re.compile(r"(?<![a-z0-9])p?(\d{1,6})(?![a-z0-9])", re.IGNORECASE)
_ONLY_ID = re.compile(r"\W*p?\d{1,6}\W*", re.IGNORECASE)


class Notebook:
    """Passages by id (`p1`, `p2`, ...) in the order in which they were seen, and the addresses that may be browsed."""

    def __init__(self, addresses: Iterable[str] = ()) -> None:
        self._ids: dict[str, str] = {}
        self._passages: list[Passage] = []
        self._addresses = {_bare_address(a): a for a in addresses}

    def __len__(self) -> int:
        return len(self._passages)

    @property
    def passages(self) -> tuple[tuple[str, Passage], ...]:
        """Ids and passages, in the order of ids."""
        return tuple(zip(self._ids.values(), self._passages, strict=True))

    def add_passage(self, passage: Passage) -> tuple[str, bool]:
        """Store a passage. Return its id and whether it is new."""
        key = passage.key
        if key in self._ids:
            return self._ids[key], False
        self._passages.append(passage)
        self._ids[key] = f"p{len(self._passages)}"
        self._addresses.setdefault(_bare_address(passage.source.url), passage.source.url)
        return self._ids[key], True

    def holds(self, key: str) -> bool:
        """Say whether the passage with this key was stored."""
        return key in self._ids

    def complete_source(self, page: Source, address: str) -> Source:
        """Return the source of a page that was read at `address`, completed by what searches said of this address."""
        for passage in self._passages:
            if _bare_address(passage.source.url) == _bare_address(address):
                page = page.complete_from(passage.source)
        return page

    def name_passages(self, messages: Sequence[Message]) -> tuple[Message, ...]:
        """Return the messages; the last one says which passages the ids in it name."""
        *before, last = messages
        keys = dict(zip(self._ids.values(), self._ids, strict=True))
        named = tuple(ShownPassage(id=short, key=keys[short]) for short in list_shown_passages(last.content) if short in keys)
        return (*before, last.model_copy(update={"shown": named}))

    def mark_suspect(self, url: str, patterns: tuple[str, ...]) -> None:
        """Mark all passages of a source as suspicious, also those seen before the source was found to instruct its readers."""
        for i, passage in enumerate(self._passages):
            if passage.source.url == url:
                names = tuple(sorted({*passage.source.suspicions, *patterns}))
                source = passage.source.model_copy(update={"suspicions": names})
                self._passages[i] = passage.model_copy(update={"source": source})

    def id_of(self, said: str) -> str | None:
        """Return the id that a model means by `p3`, `[p3]`, `P3` or `3`, if there is such a passage."""
        found = _ID.search(said[:40])
        number = int(found.group(1)) if found else 0
        return f"p{number}" if 1 <= number <= len(self._passages) else None

    def find_passage(self, said: str) -> Passage | None:
        """Return the passage whose id is all that a model says."""
        short = self.id_of(said) if _ONLY_ID.fullmatch(said) else None
        return self._passages[int(short[1:]) - 1] if short else None

    def find_address(self, said: str) -> str | None:
        """Return the address that a model means, given as address or passage id; None if no search returned it."""
        known = self._addresses.get(_bare_address(said))
        if known is not None:
            return known
        passage = self.find_passage(said)
        return passage.source.url if passage else None


def _bare_address(address: str) -> str:
    """Return an address without what models change in copying: surrounding marks, the fragment, a final slash."""
    return address.strip(" \t\n<>\"'`()[]").partition("#")[0].rstrip("/")
