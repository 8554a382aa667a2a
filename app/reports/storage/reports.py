"""Finished reports, and the stored copies of the sources they cite."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from app.database.engine import Executor, translate_outages
from app.domain.evidence import Quote
from app.domain.revision import DELIVERED

BODIES = "SELECT hash, body FROM snapshots WHERE hash = ANY($1::text[])"
# Texts are cut here, not in the database: in UTF-8 each cut there counts its way through the whole text. A few at a time, so
# that the many sources of one report are never all in memory.
TEXTS_AT_ONCE = 8
SURROUNDING_CHARS = 240
NO_COPIES: Mapping[str, str] = {}
SNAPSHOT = "SELECT body FROM snapshots WHERE hash = $1"


class Surroundings(NamedTuple):
    """The text of a stored copy just before and just after a quote."""

    before: str
    after: str


class StoredReport(NamedTuple):
    """A version of a report as it was stored: `report` and `evidence` are JSON texts.

    `readable`: the acting person may read what it was written from.
    """

    report: str
    markdown: str
    html: str
    evidence: str
    created_at: datetime
    version: int = DELIVERED
    readable: bool = True


async def get_snapshot(database: Executor, hash_: str) -> bytes | None:
    """Return the stored copy (UTF-8) of the source with this SHA-256, or None."""
    async with translate_outages():
        found: bytes | None = await database.fetchval(SNAPSHOT, hash_)
    return found


async def find_surroundings(
    database: Executor, quotes: Sequence[Quote], chars: int = SURROUNDING_CHARS, copies: Mapping[str, str] = NO_COPIES
) -> dict[str, Surroundings]:
    """Return, by quote key, up to `chars` characters of the stored copy on each side. A quote without a stored copy has none.

    `copies` are texts by their hashes that will be stored only later.
    """
    by_text: dict[str, list[Quote]] = {}
    for quote in quotes:
        by_text.setdefault(quote.source.snapshot, []).append(quote)
    names = [name for name in by_text if name not in copies]
    ready = copies.keys() & by_text.keys()
    found = {quote.key: _surroundings_of(copies[name], quote, chars) for name in ready for quote in by_text[name]}
    for first in range(0, len(names), TEXTS_AT_ONCE):
        async with translate_outages():
            rows = await database.fetch(BODIES, names[first : first + TEXTS_AT_ONCE])
        for name, body in rows:
            text = body.decode()
            found |= {quote.key: _surroundings_of(text, quote, chars) for quote in by_text[name]}
    return found


def _surroundings_of(text: str, quote: Quote, chars: int) -> Surroundings:
    """Offsets count characters."""
    before, after = text[max(quote.start - chars, 0) : quote.start], text[quote.end : quote.end + chars]
    return Surroundings(_from_word(before, chars), _to_word(after, chars))


def _from_word(text: str, chars: int) -> str:
    """Begin at a word's beginning, where the cut fell inside one."""
    return text.partition(" ")[2] if len(text) == chars and " " in text else text


def _to_word(text: str, chars: int) -> str:
    return text.rpartition(" ")[0] if len(text) == chars and " " in text else text
