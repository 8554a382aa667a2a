"""Content-addressed evidence: sources, passages, quotes and findings.

A passage's key is a hash of its source and its text, so merging what parallel agents found is set union and a
retry changes nothing. Offsets count characters in the stored snapshot of the source.
"""

import hashlib
from collections.abc import Mapping
from datetime import date
from enum import StrEnum
from functools import lru_cache
from typing import Any

from pydantic import Field, model_validator

from app.domain.address import host_of
from app.domain.blocks import Block, BlockKind, KeptBlocks
from app.domain.budget import StopReason, Usage
from app.domain.value import Value

_COMPLETED = ("author", "published", "licence", "doi", "venue", "retracted", "preprint")


def snapshot_hash(text: str) -> str:
    """Return the SHA-256 (hex) of a source's full text: the name of its immutable snapshot."""
    return hashlib.sha256(text.encode()).hexdigest()


def content_key(*parts: str) -> str:
    """Return a 16-hex-digit key of the given parts, each length-prefixed so that no two lists of parts collide."""
    digest = hashlib.sha256()
    for part in parts:
        encoded = part.encode()
        digest.update(f"{len(encoded)}:".encode())
        digest.update(encoded)
    return digest.hexdigest()[:16]


@lru_cache(maxsize=1_024)
def _key_of_stretch(url: str, snapshot: str, start: int, text: str) -> str:
    """Return the key of a stretch of a snapshot. It is kept, because every merge and marker asks for it again."""
    return content_key(url, snapshot, str(start), text)


class Source(Value):
    """Where text came from. `snapshot` names the stored copy that all offsets refer to.

    `doi`, `venue`, `retracted` and `preprint` are a paper's, as far as whoever found it says so; `fetched` is the day on which
    the text was fetched from outside.
    `suspicions` names the ways in which its text was found to instruct machines that read it (docs/safety.md).
    """

    url: str
    title: str
    snapshot: str = Field(pattern=r"^[0-9a-f]{64}$")
    collection: str = ""
    author: str = ""
    published: date | None = None
    licence: str = ""
    kind: str = "document"
    doi: str = ""
    venue: str = ""
    retracted: bool = False
    preprint: bool = False
    fetched: date | None = None
    suspicions: tuple[str, ...] = ()

    def complete_from(self, known: "Source") -> "Source":
        """Return this source with what `known`, of the same work, says where this one says nothing. A host is no title."""
        said = {name: getattr(self, name) or getattr(known, name) for name in _COMPLETED}
        title = known.title if self.title in (self.url, host_of(self.url)) else self.title
        return self.model_copy(update={**said, "title": title})


class Passage(Value):
    """A stretch `[start, end)` of a snapshot, in characters, as a search returned it.

    `blocks` are what is known of its structure: those that it has, after the headings before it that they stand under.
    """

    source: Source
    text: str
    start: int = Field(ge=0)
    end: int = Field(ge=0)
    score: float = 0.0
    blocks: KeptBlocks = ()

    @property
    def key(self) -> str:
        """Content address: the same passage has the same key, whoever found it."""
        return _key_of_stretch(self.source.url, self.source.snapshot, self.start, self.text)

    def make_quote(self, start: int, end: int) -> "Quote":
        """Return a stretch of the passage, counted in its text, as a quotation of its source."""
        text, start = self.text[start:end], self.start + start
        pages = [block.page for block in self.blocks if block.start <= start]
        return Quote(source=self.source, text=text, start=start, end=start + len(text), page=pages[-1] if pages else None)

    def holds(self, other: "Passage | Quote") -> bool:
        """Say whether this stretch of a snapshot has the other one in it."""
        return self.source.snapshot == other.source.snapshot and self.start <= other.start and other.end <= self.end


class Quote(Value):
    """An exact quotation: `snapshot_text[start:end] == text`. `page` is known of a PDF, and of slides."""

    source: Source
    text: str = Field(min_length=1)
    start: int = Field(ge=0)
    end: int = Field(ge=0)
    page: int | None = None

    def to_passage(self) -> Passage:
        """Return the quotation as a passage of its source."""
        blocks = (Block(BlockKind.PARAGRAPH, self.start, self.end, page=self.page),) if self.page else ()
        return Passage(source=self.source, text=self.text, start=self.start, end=self.end, blocks=blocks)

    @property
    def key(self) -> str:
        """Content address of this quotation; report bodies refer to it, numbers appear only when rendered."""
        return _key_of_stretch(self.source.url, self.source.snapshot, self.start, self.text)


class SourceConflict(Value):
    """Two quotes that disagree, and about what."""

    about: str
    quote_keys: tuple[str, ...] = Field(min_length=2)


class FormKind(StrEnum):
    """What a quotation is in its source; `continued` is a sentence of the item before it."""

    SENTENCE = "sentence"
    ITEM = "item"
    CONTINUED = "continued"
    ROW = "row"
    TABLE_HEAD = "table_head"
    CODE = "code"
    HEADING = "heading"


class QuoteForm(Value):
    """The form of a quote in its source. `key` is the quote's; `under` and `table` are where its heading and its table start."""

    key: str
    kind: FormKind
    under: int | None = None
    table: int | None = None


class Finding(Value):
    """What one deep-search agent brings back: an answer, its quotes, what is missing and what disagrees.

    A search that failed or ran out is a Finding that says so, never a missing one. `thoughts` is the agent's reasoning, one line
    a turn: its part of the Extended Chain-of-Thought memory. `relevance`, where given, says for each quote how well it serves the
    whole question, on a scale that findings of one run share, so that a report can merge them. `forms`, where given, says what
    the quotes are in their sources. `passages` are those that the agent read and cites, quotes or names in a conflict, whole: a
    report is written from them. `notices` tell the report's reader what the model did not do in this search.
    """

    subtask_id: str
    answer: str = ""
    quotes: tuple[Quote, ...] = ()
    relevance: tuple[float, ...] = ()
    forms: tuple[QuoteForm, ...] = ()
    passages: tuple[Passage, ...] = ()
    gaps: tuple[str, ...] = ()
    conflicts: tuple[SourceConflict, ...] = ()
    thoughts: tuple[str, ...] = ()
    stop: StopReason
    detail: str = ""
    notices: tuple[str, ...] = ()
    turns: int = 0
    usage: Usage = Usage()

    @model_validator(mode="before")
    @classmethod
    def _read_surroundings(cls, said: Any) -> Any:
        """Make passages of what findings had once: the text before and after each quote, under the quote's key."""
        if not isinstance(said, Mapping) or "around" not in said:
            return said
        quotes = {quote.key: quote for quote in map(Quote.of_any_version, said.get("quotes", ()))}
        known = [(quotes[around["key"]], around) for around in said["around"] if around["key"] in quotes]
        rest = {name: value for name, value in said.items() if name != "around"}
        return {"passages": [_widen(quote, around) for quote, around in known], **rest}


def _widen(quote: Quote, around: Mapping[str, str]) -> Passage:
    before, after = around.get("before", ""), around.get("after", "")
    start = quote.start - len(before)
    text = f"{before}{quote.text}{after}"
    return quote.to_passage().model_copy(update={"text": text, "start": start, "end": start + len(text)})
