"""Checking an agent's finding: every quote of its answer has to stand word for word in a passage that the agent saw."""

import re
from collections.abc import Iterable, Sequence

from pydantic import Field

from app.domain.citations import MARKER, marker_of
from app.domain.evidence import Passage, Quote, SourceConflict
from workflows.agents.cited_statements import find_statement
from workflows.agents.notebook import Notebook
from workflows.agents.passage_ids import citation_pattern_of
from workflows.agents.quoting import MIN_CHARS, quote_from
from workflows.agents.sentence_choice import choose_quotes
from workflows.agents.shared_terms import count_shared_terms, terms_of
from workflows.agents.steps import StepAnswer, declare_step

MAX_QUOTES = 24
MAX_LISTED = 8
ANSWER_CHARS = 6_000
ABOUT_CHARS = 500


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
    """The quotes of a finding answer that stand in passages; `invented` counts those that stand in none.

    What the answer cites without a quote of its own is quoted by the statement that cites it.
    """

    def __init__(self, answer: FindingAnswer, notebook: Notebook) -> None:
        self._notebook = notebook
        self._passages = dict(notebook.passages)
        self.invented = 0
        found = [f for said in answer.quotes[: 2 * MAX_QUOTES] if (f := self._find_quote(said))]
        widest = find_widest([quote for _, quote in found])
        kept = {quote.key: quote for quote in widest.values()}
        self._quotes = dict([*kept.items()][:MAX_QUOTES])
        self._by_passage: dict[str, list[Quote]] = {}
        for short, quote in found:
            if (outer := widest[quote.key]).key in self._quotes and outer not in self._by_passage.setdefault(short, []):
                self._by_passage[short].append(outer)
        self.answer = self._put_markers(answer.answer)
        self.conflicts = self._list_conflicts(answer.conflicts)

    @property
    def quotes(self) -> tuple[Quote, ...]:
        """All quotes, those that the answer copied first."""
        return tuple(self._quotes.values())

    @property
    def passages(self) -> tuple[Passage, ...]:
        """The passages that are quoted, cited or named in a conflict, in the order in which they were seen."""
        return tuple(passage for short, passage in self._passages.items() if self._by_passage.get(short))

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

    def _quote_of(self, said: str, statement: str) -> Quote | None:
        """Return what the passage that `said` names has for a statement: one of its quotes, else its best sentences."""
        short = self._notebook.id_of(said)
        if short is None:
            return None
        own = self._by_passage.setdefault(short, [])
        if own:
            terms = terms_of(statement)
            return max(own, key=lambda quote: count_shared_terms(quote.text, terms))
        quote = choose_quotes(self._passages[short], statement)[0]
        own.append(quote)
        return self._quotes.setdefault(quote.key, quote)

    def _put_markers(self, text: str) -> str:
        """Turn the passage ids of the text into markers of quotes; remove ids of no passage."""
        plain = MARKER.sub("", text)

        def replace(match: re.Match[str]) -> str:
            statement = find_statement(plain, match.start())
            quotes = [q for said in re.split(r"[,;，、]", match.group(1)) if (q := self._quote_of(said, statement))]
            return "".join(dict.fromkeys(map(marker_of, quotes)))

        return citation_pattern_of(plain).sub(replace, plain).strip()

    def _list_conflicts(self, said: Iterable[ConflictAnswer]) -> tuple[SourceConflict, ...]:
        """Return the disagreements that rest on at least two quotes."""
        found: list[SourceConflict] = []
        for conflict in said:
            quotes = (self._quote_of(name, conflict.about) for name in conflict.passages)
            keys = tuple(dict.fromkeys(quote.key for quote in quotes if quote))
            if len(keys) > 1 and conflict.about.strip():
                found.append(SourceConflict(about=conflict.about.strip()[:ABOUT_CHARS], quote_keys=keys))
        return tuple(found[:MAX_LISTED])


def find_widest(quotes: Sequence[Quote]) -> dict[str, Quote]:
    """Return, by each quote's key, the widest quote of the same snapshot that contains it (usually itself)."""
    widest = sorted(quotes, key=lambda q: q.start - q.end)
    return {q.key: next(o for o in widest if _contains(o, q)) for q in quotes}


def _contains(outer: Quote, inner: Quote) -> bool:
    return outer.source.snapshot == inner.source.snapshot and outer.start <= inner.start and inner.end <= outer.end
