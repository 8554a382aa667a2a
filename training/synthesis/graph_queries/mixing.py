"""Mixing two sources of rows at a share (MindDR 4.2), and the queue of rows that people look at."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from typing import TypeVar

from app.domain.benchmark import CandidateQuestion, Screening
from training.evaluation.builder.queue import ReviewQueue
from training.synthesis.graph_queries.filters import LEAST_COHERENCE
from training.synthesis.graph_queries.row import GraphQueryRow

T = TypeVar("T")
AUDITED = 0.1
"""The share of well-scored rows that people look at, besides all of the lowest score that is kept."""
DEEPEST = 5


def mix_sources(made: Sequence[T], mined: Sequence[T], share: float) -> Iterator[T]:
    """Yield rows of two sources so that at each moment `share` of them, rounded down, are mined. Ends with the shorter source.

    With a share of 0 or 1 there is one source only.
    """
    taken_made = taken_mined = 0
    while True:
        wants_mined = int((taken_made + taken_mined + 1) * share + 1e-9) > taken_mined
        source, taken = (mined, taken_mined) if wants_mined else (made, taken_made)
        if taken == len(source):
            return
        yield source[taken]
        taken_mined += wants_mined
        taken_made += not wants_mined


def list_for_audit(rows: Iterable[GraphQueryRow], share: float = AUDITED) -> list[GraphQueryRow]:
    """Return the rows that people look at: those that just passed, and a share of the others, drawn by their ids."""
    return [row for row in rows if row.coherence == LEAST_COHERENCE or _draw_share(row.id) < share]


def queue_for_audit(queue: ReviewQueue, rows: Iterable[GraphQueryRow], made_on: date, judge: str) -> int:
    """Put rows into a queue of reviews, each once, and return how many were new. `rubrica eval build review` shows them."""
    known = queue.read_candidates()
    fresh = {row.id: row for row in rows if row.id not in known}
    made = {
        row.id: CandidateQuestion(
            id=row.id, question=f"{row.query}\n-> {row.answer.name}", language=row.language, asked_on=made_on
        )
        for row in fresh.values()
    }
    queue.collect({**known, **made}, made_on)
    for row in fresh.values():
        depth = max(row.coherence, min(row.hops, DEEPEST))
        reason = f"coherence {row.coherence} of 5"
        queue.keep_screening(Screening(id=row.id, depth=depth, self_contained=True, reason=reason, model=judge))
    return len(fresh)


def _draw_share(identity: str) -> float:
    return int(hashlib.sha256(identity.encode()).hexdigest()[:8], 16) / 16**8
