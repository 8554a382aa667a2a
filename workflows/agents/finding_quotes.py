"""Checking an agent's finding: every quote of its answer has to stand word for word in a passage that the agent saw."""

import re
from collections.abc import Iterable, Sequence

from pydantic import Field

from app.domain.citations import MARKER, marker_of
from app.domain.evidence import Passage, Quote, QuoteSurroundings, SourceConflict
from workflows.agents.notebook import Notebook
from workflows.agents.passage_ids import citation_pattern_of
from workflows.agents.quoting import MIN_CHARS, quote_from
from workflows.agents.steps import StepAnswer, declare_step

MAX_QUOTES = 24
MAX_LISTED = 8
ANSWER_CHARS = 6_000
ABOUT_CHARS = 500
AROUND_CHARS = 500


class QuoteAnswer(StepAnswer):
    """Words of a passage that support a statement."""

    passage: str = Field(default="", description="id of the passage, such as p3")
    text: str = Field(default="", description="one to three sentences copied from it word for word")


class ConflictAnswer(StepAnswer):
    """Passages that disagree."""

    about: str = Field(default="", description="what they disagree about, in one sentence")
    passages: tuple[str, ...] = Field(default=(), description="ids of the passages that disagree")


class FindingAnswer(StepAnswer):
    """The agent's result. Evidence comes first, so that the model writes the answer from it."""

    quotes: tuple[QuoteAnswer, ...] = ()
    answer: str = Field(
        default="",
        max_length=ANSWER_CHARS,
        description="the answer to the subtask, each statement followed by its passage ids as [p3]",
    )
    gaps: tuple[str, ...] = Field(default=(), description="what stayed unanswered")
    conflicts: tuple[ConflictAnswer, ...] = ()


FINDING = declare_step("finding", FindingAnswer, max_tokens=4_000, spare=["conflicts"])


class LocatedQuotes:
    """The quotes of a finding answer that were found in passages; `invented` counts those that were not."""

    def __init__(self, answer: FindingAnswer, notebook: Notebook) -> None:
        self._notebook = notebook
        self.invented = 0
        found = [f for said in answer.quotes[: 2 * MAX_QUOTES] if (f := self._find_quote(said))]
        widest = find_widest([quote for _, quote in found])
        kept = {quote.key: quote for quote in widest.values()}
        self.quotes = tuple(kept.values())[:MAX_QUOTES]
        self._first = self._index_by_passage(found, widest)

    def _index_by_passage(self, found: list[tuple[str, Quote]], widest: dict[str, Quote]) -> dict[str, tuple[str, Quote]]:
        """Return key and first quote of each passage from which a quote was kept."""
        keys = {quote.key for quote in self.quotes}
        first: dict[str, tuple[str, Quote]] = {}
        for short, quote in found:
            outer = widest[quote.key]
            if outer.key in keys:
                first.setdefault(short, (outer.key, outer))
        return first

    def _find_quote(self, said: QuoteAnswer) -> tuple[str, Quote] | None:
        """Find a quote in the named passage, else in any other: models mix up ids more often than words."""
        named = self._notebook.id_of(said.passage)
        everywhere = self._notebook.passages if len(said.text) >= MIN_CHARS else ()
        here = [(short, passage) for short, passage in self._notebook.passages if short == named]
        for short, passage in (*here, *everywhere):
            quote = quote_from(passage, said.text)
            if quote is not None:
                return short, quote
        self.invented += 1
        return None

    def quote_of(self, said: str) -> tuple[str, Quote] | None:
        """Return key and first quote from the passage that a model means by `said`."""
        short = self._notebook.id_of(said)
        return self._first.get(short) if short else None

    def put_markers(self, text: str) -> str:
        """Turn the passage ids of the text into markers of quotes; remove ids without a quote."""

        def replace(match: re.Match[str]) -> str:
            quotes = dict(q for said in re.split(r"[,;，、]", match.group(1)) if (q := self.quote_of(said)))
            return "".join(map(marker_of, quotes.values()))

        plain = MARKER.sub("", text)
        return citation_pattern_of(plain).sub(replace, plain).strip()

    def list_conflicts(self, said: Iterable[ConflictAnswer]) -> tuple[SourceConflict, ...]:
        """Return the disagreements that rest on at least two quotes."""
        found: list[SourceConflict] = []
        for conflict in said:
            keys = tuple(dict(q for p in conflict.passages if (q := self.quote_of(p))))
            if len(keys) > 1 and conflict.about.strip():
                found.append(SourceConflict(about=conflict.about.strip()[:ABOUT_CHARS], quote_keys=keys))
        return tuple(found[:MAX_LISTED])


def list_surroundings(quotes: Sequence[Quote], passages: Sequence[Passage]) -> tuple[QuoteSurroundings, ...]:
    """Return the text around each quote in the first passage that holds it, up to a length on each side."""
    found: list[QuoteSurroundings] = []
    for quote in quotes:
        passage = next((p for p in passages if _holds(p, quote)), None)
        if passage is not None:
            start, end = quote.start - passage.start, quote.end - passage.start
            before, after = passage.text[max(0, start - AROUND_CHARS) : start], passage.text[end : end + AROUND_CHARS]
            found.append(QuoteSurroundings(key=quote.key, before=before, after=after))
    return tuple(found)


def _holds(passage: Passage, quote: Quote) -> bool:
    end = passage.start + len(passage.text)
    return passage.source.snapshot == quote.source.snapshot and passage.start <= quote.start and quote.end <= end


def find_widest(quotes: Sequence[Quote]) -> dict[str, Quote]:
    """Return, by each quote's key, the widest quote of the same snapshot that contains it (usually itself)."""
    widest = sorted(quotes, key=lambda q: q.start - q.end)
    return {q.key: next(o for o in widest if _contains(o, q)) for q in quotes}


def _contains(outer: Quote, inner: Quote) -> bool:
    return outer.source.snapshot == inner.source.snapshot and outer.start <= inner.start and inner.end <= outer.end
