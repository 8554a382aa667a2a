"""What the next cycle of a plan lacks: an estimate from what readers said so far, without an export."""

from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

import asyncpg

from app.domain.retraining import CyclePlan
from app.domain.training_stage import THE_EXPORT, TrainingStage
from app.models.service.plan_files import OF_EXPORTS
from app.preferences.service.learnable import LearnableVotes, count_learnable


class NeedKind(StrEnum):
    """What a plan wants a least number of."""

    PAIRS = "pairs"
    READERS = "readers"
    ROWS = "rows"


class PlanNeed(NamedTuple):
    """A least number that a plan wants, for its data as a whole or for a stage, and what there is of it; None: nobody knows."""

    what: NeedKind
    stage: str
    least: int
    found: int | None

    @property
    def missing(self) -> int:
        """How many are missing, as far as it is known."""
        return max(0, self.least - self.found) if self.found is not None else 0


async def estimate_needs(database: asyncpg.Pool, plan: CyclePlan, now: datetime) -> list[PlanNeed]:
    """Return what a cycle that began now would need, and what there is of it.

    A cycle's checks may leave out more: votes of a reader or an organisation beyond their share.
    """
    votes = await count_learnable(database, plan.since, now, plan.checks.least_seconds, plan.held_out.shares)
    return [
        PlanNeed(NeedKind.PAIRS, "", plan.checks.least_pairs, votes.pairs),
        PlanNeed(NeedKind.READERS, "", plan.checks.least_readers, votes.readers),
        *(PlanNeed(NeedKind.ROWS, stage.name, stage.least_rows, _count_rows(stage, votes)) for stage in plan.stages),
    ]


def _count_rows(stage: TrainingStage, votes: LearnableVotes) -> int | None:
    """Return how many rows there are for a stage. How many other kinds of sets have is known once they are made."""
    return votes.rows if stage.kind == OF_EXPORTS and THE_EXPORT in stage.inputs else None
