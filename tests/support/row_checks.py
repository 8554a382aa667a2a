"""Faults of training rows, found by comparison with what the engine itself sampled."""

from collections.abc import Sequence

from app.domain.trajectory import Trajectory
from tests.support.scripted_engine import EngineCall
from training.rollouts.nouns import TrainingRow


def count_row_faults(rows: Sequence[TrainingRow], calls: Sequence[EngineCall], trajectory: Trajectory) -> int:
    """Return how many sampled ids are lost, doubled, unmasked, or not behind the ids they were sampled after."""
    faults = sum(_count_misplaced(row, trajectory) for row in rows)
    held = 0
    for prompt, sample in calls:
        found = sum(_holds(row, prompt, sample.ids, sample.logprobs) for row in rows)
        held += found * len(sample.ids)
        faults += abs(found - 1) * len(sample.ids)
    return faults + abs(sum(sum(row.sampled) for row in rows) - held)


def _holds(row: TrainingRow, prompt: Sequence[int], ids: tuple[int, ...], logprobs: tuple[float, ...]) -> bool:
    start, end = len(prompt), len(prompt) + len(ids)
    masked = row.sampled[start:end] == (True,) * len(ids)
    return masked and row.logprobs[start:end] == logprobs and row.ids[:end] == (*prompt, *ids)


def _count_misplaced(row: TrainingRow, trajectory: Trajectory) -> int:
    """Count what contradicts the row's own description, and sampled ids that are not those of their turn in order."""
    of_turn: dict[int, list[int]] = {}
    wrong = 0 if len(row.ids) == len(row.sampled) == len(row.logprobs) == len(row.turns) else 1
    for id_, sampled, logprob, turn in zip(row.ids, row.sampled, row.logprobs, row.turns, strict=False):
        if sampled:
            of_turn.setdefault(turn, []).append(id_)
        wrong += not sampled and (logprob, turn) != (0.0, -1)
    for turn, ids in of_turn.items():
        completion = trajectory.turns[turn].completion
        wrong += completion is None or completion.sampled is None or list(completion.sampled.completion_ids) != ids
    return wrong + row.sampled[0]
