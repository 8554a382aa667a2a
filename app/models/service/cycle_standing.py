"""How a cycle stands: the step that it takes, or waits before, and since when."""

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

from app.domain.retraining import Cycle, CycleState, StepOutcome
from app.models.service.cycle_order import CycleEnd, find_next


class CycleStanding(NamedTuple):
    """A cycle with the step in hand, or the next one, and its stage (empty: the whole cycle's, or the cycle has ended).

    `since` is when it came into its state. `asks`: the step waits for a person to agree.
    """

    cycle: Cycle
    step: str
    stage: str
    since: datetime
    asks: bool


def describe_standing(cycle: Cycle, outcomes: Mapping[str, StepOutcome], since: datetime | None) -> CycleStanding:
    """Return how a cycle stands, by the outcomes of its steps so far. `since`: its last change of state."""
    following = find_next(cycle.plan, outcomes)
    if cycle.state.finished or isinstance(following, CycleEnd):
        return CycleStanding(cycle, "", "", cycle.ended_at or since or cycle.created_at, asks=False)
    asks = cycle.state is CycleState.WAITING and following.name in cycle.plan.approve and following.name not in cycle.approved
    stage = following.stage.name if following.stage else ""
    return CycleStanding(cycle, following.name, stage, since or cycle.created_at, asks)
