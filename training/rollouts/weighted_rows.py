"""Weighted rows: a rollout's rows with an advantage for each token and the weight of each token in the loss."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.domain.trajectory import TurnKind
from training.rollouts.advantages import compute_advantages, compute_step_advantages
from training.rollouts.groups import ScoredGroup
from training.rollouts.nouns import Rollout, RolloutEnd, TrainingRow
from training.rollouts.objectives import Average, Objective


@dataclass(frozen=True, slots=True)
class WeightedRow:
    """A row to train on. `advantages` has an entry a token, 0 where the policy did not sample; `weight` is each token's."""

    row: TrainingRow
    advantages: tuple[float, ...]
    weight: float


@dataclass(frozen=True, slots=True)
class Totals:
    """What a sum of weighted tokens is divided by: the rollouts that have a reward, and their tokens in the gradient."""

    rollouts: int = 0
    tokens: int = 0

    def __add__(self, other: "Totals") -> "Totals":
        """Return the totals of both."""
        return Totals(self.rollouts + other.rollouts, self.tokens + other.tokens)


def weigh_rows(groups: Sequence[ScoredGroup], objective: Objective) -> tuple[list[WeightedRow], Totals]:
    """Return the rows of all rollouts that have a reward, and their totals.

    Before the division by the totals, a token weighs 1 over the sampled tokens of its rollout (`ROLLOUT`), 1 (`TOKEN`) or 1 over
    the fixed length (`LENGTH`). So a rollout weighs the same however its tokens are cut into rows. A rollout without rows
    counts in the baseline and in `Totals.rollouts`; one without reward counts nowhere.
    """
    rows: list[WeightedRow] = []
    rollouts = tokens = 0
    for scored in groups:
        for rollout, own, advantage, steps in _list_advantages(scored, objective):
            sampled = sum(sum(row.sampled) for row in own)
            rollouts += 1
            if sampled and not (objective.drop_capped and rollout.end is RolloutEnd.CAPPED):
                tokens += sampled
                weight = _weigh_token(objective, sampled)
                rows += [WeightedRow(row, _spread_advantage(row, advantage, steps), weight) for row in own]
    return rows, Totals(rollouts, tokens)


def _list_advantages(
    scored: ScoredGroup, objective: Objective
) -> list[tuple[Rollout, Sequence[TrainingRow], float, Mapping[int, float]]]:
    """Return each rollout that has a reward, with its rows, its advantage and those of its turns by their positions."""
    advantages = compute_advantages(scored.scores, objective.scale)
    present = [(*pair, advantage) for pair, advantage in zip(scored.group, advantages, strict=True) if advantage is not None]
    if not objective.step_weight:
        return [(rollout, rows, advantage, {}) for rollout, rows, advantage in present]
    steps = compute_step_advantages([rollout.reward.steps for rollout, _, _ in present], objective.scale)
    return [
        (rollout, rows, advantage, _place_steps(rollout, [objective.step_weight * step for step in own]))
        for (rollout, rows, advantage), own in zip(present, steps, strict=True)
    ]


def _place_steps(rollout: Rollout, steps: Sequence[float]) -> dict[int, float]:
    """Return the steps by the position of their model turn in the trajectory, which has turns of tools too.

    Raises:
        ValueError: the rollout does not have one step reward for each model turn.
    """
    places = [place for place, turn in enumerate(rollout.trajectory.turns) if turn.kind is TurnKind.MODEL]
    if len(places) != len(steps):
        raise ValueError(f"rollout {rollout.number} of {rollout.task}: {len(steps)} step rewards, {len(places)} model turns")
    return dict(zip(places, steps, strict=True))


def _weigh_token(objective: Objective, sampled: int) -> float:
    if objective.average is Average.ROLLOUT:
        return 1 / sampled
    return 1.0 if objective.average is Average.TOKEN else 1 / objective.length


def _spread_advantage(row: TrainingRow, advantage: float, steps: Mapping[int, float]) -> tuple[float, ...]:
    """Return the rollout's advantage and, where steps have rewards, that of the token's own step."""
    return tuple(
        advantage + (steps[turn] if steps else 0.0) if sampled else 0.0
        for turn, sampled in zip(row.turns, row.sampled, strict=True)
    )
