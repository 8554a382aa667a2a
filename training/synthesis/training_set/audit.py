"""The audit of rows by people (MindDR 4.1, 4.4): some rows wait in a folder where `rubrica eval build review` shows them.

Those are the rows that just passed, and a share of the others, drawn by their ids. A row that anybody rejects leaves the set
when the same command is run again.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import NamedTuple

from app.domain.benchmark import CandidateQuestion, Decision, Screening
from training.evaluation.builder.queue import LEAST_DEPTH, ReviewQueue
from training.synthesis.training_set.outcome import KeptRow, WorkedCandidate

AUDITED = 0.1
"""The share of the rows that people look at, besides those that just passed."""
DEEPEST = 5


class ShownRow(NamedTuple):
    """What people see of a row, the scores that it has, its number of hops, and whether it just passed."""

    text: str
    scores: str
    hops: int
    just_passed: bool


@dataclass(frozen=True, slots=True)
class RowAudit:
    """The audit of a set in a folder. `judge` is the model that gave the scores."""

    folder: Path
    made_on: date
    judge: str
    show: Callable[[KeptRow], ShownRow]
    share: float = AUDITED

    def offer(self, worked: Sequence[WorkedCandidate]) -> dict[str, str]:
        """Put rows into the folder, each once; return the reasons for which people rejected rows, by the rows' ids."""
        queue = ReviewQueue(self.folder)
        queue.open()
        kept = {each.candidate: (each.kept.language, self.show(each.kept)) for each in worked if each.kept is not None}
        known = queue.read_candidates()
        fresh = {name: row for name, row in kept.items() if name not in known and self._is_audited(name, row[1])}
        made = {
            name: CandidateQuestion(id=name, question=shown.text, language=language, asked_on=self.made_on)
            for name, (language, shown) in fresh.items()
        }
        queue.collect({**known, **made}, self.made_on)
        for name, (_, shown) in fresh.items():
            queue.keep_screening(self._describe(name, shown))
        return _list_rejected(queue, kept)

    def _is_audited(self, name: str, shown: ShownRow) -> bool:
        drawn = int.from_bytes(hashlib.sha256(f"audit {name}".encode()).digest()[:8]) / 2**64
        return shown.just_passed or drawn < self.share

    def _describe(self, name: str, shown: ShownRow) -> Screening:
        depth = min(max(shown.hops, LEAST_DEPTH), DEEPEST)
        return Screening(id=name, depth=depth, self_contained=True, reason=shown.scores, model=self.judge)


def _list_rejected(queue: ReviewQueue, kept: Mapping[str, object]) -> dict[str, str]:
    rejected = [review for review in queue.read_reviews() if review.decision is Decision.REJECT and review.id in kept]
    return {review.id: f"{review.reviewer} rejects it: {review.note}".rstrip(": ") for review in rejected}
