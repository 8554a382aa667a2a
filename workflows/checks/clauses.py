"""The clauses of a sentence, each with its periods and its future forms."""

import re
from collections.abc import Callable, Sequence
from datetime import date, timedelta
from typing import NamedTuple

from retrieval.language.paragraphs import Span
from retrieval.language.periods import Period
from workflows.checks.future_forms import FutureForm

RECENT = timedelta(days=3653)
"""How long ago a period may be that a weak form foretells: of older times "could" tells what was possible."""


class Clause(NamedTuple):
    """A stretch of a sentence, with what stands in it."""

    span: Span
    periods: Sequence[Period]
    futures: Sequence[FutureForm]

    def text_in(self, sentence: str) -> str:
        """Return its text."""
        return sentence[self.span.start : self.span.end]

    def rest_in(self, sentence: str) -> str:
        """Return its text without its periods."""
        edges = [self.span.start, *(edge for period in self.periods for edge in (period.start, period.end)), self.span.end]
        return " ".join(sentence[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True))


def split_clauses(
    sentence: str, breaks: re.Pattern[str], periods: Sequence[Period], futures: Sequence[FutureForm]
) -> list[Clause]:
    """Return the clauses between the breaks, in order. A break within a period is none."""
    edges = [found.span() for found in breaks.finditer(sentence)]
    edges = [edge for edge in edges if not any(period.start < edge[1] and edge[0] < period.end for period in periods)]
    starts, ends = [0, *(end for _, end in edges)], [*(start for start, _ in edges), len(sentence)]
    return [_take(Span(start, end), periods, futures) for start, end in zip(starts, ends, strict=True) if start < end]


def join_adverbials(clauses: Sequence[Clause], is_adverbial: Callable[[Clause], bool]) -> list[Clause]:
    """Join each clause that only dates with the next one if that foretells, else with the one before."""
    joined: list[Clause] = []
    for place, clause in enumerate(clauses):
        if not clause.periods or clause.futures or not is_adverbial(clause):
            joined.append(clause)
        elif place + 1 < len(clauses) and clauses[place + 1].futures:
            following = clauses[place + 1]
            span = Span(clause.span.start, following.span.end)
            joined.append(Clause(span, [*clause.periods, *following.periods], following.futures))
        elif joined and joined[-1].futures:
            before = joined.pop()
            span = Span(before.span.start, clause.span.end)
            joined.append(Clause(span, [*before.periods, *clause.periods], before.futures))
    return joined


def find_past_foretold(clauses: Sequence[Clause], written: date, foretells: Callable[[Clause, Period], bool]) -> Period | None:
    """Return the first foretold period that is over, of a clause that foretells none that is still to come."""
    for clause in clauses:
        foretold = [period for period in clause.periods if clause.futures and foretells(clause, period)]
        if foretold and all(period.until < written for period in foretold):
            return foretold[0]
    return None


def _take(span: Span, periods: Sequence[Period], futures: Sequence[FutureForm]) -> Clause:
    return Clause(
        span,
        [period for period in periods if span.start <= period.start and period.end <= span.end],
        [form for form in futures if span.start <= form.start < span.end],
    )
