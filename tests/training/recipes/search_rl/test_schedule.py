"""The schedule of the weights, and the mix of difficulties."""

from collections.abc import Mapping
from itertools import islice
from typing import Any

import pytest
from pydantic import ValidationError

from app.domain.query import Language
from training.recipes.run_folder import StepMetrics
from training.recipes.search_rl.config import ScheduleSection
from training.recipes.search_rl.difficulty import DifficultyMix, expect_accuracy, move_shares
from training.recipes.search_rl.schedule import RewardPart, RewardSchedule, SchedulePhase, weigh_parts
from training.rewards.composites import SearchWeights
from training.rollouts.nouns import Task
from training.synthesis.graph_queries.row import Difficulty

PHASES = (
    SchedulePhase(RewardPart.TOOL, 0.9, SearchWeights(0.2, 0.3, 0.5)),
    SchedulePhase(RewardPart.FORMAT, 0.95, SearchWeights(0.2, 0.1, 0.7)),
    SchedulePhase(RewardPart.PROCESS, 0.6, SearchWeights(0.1, 0.1, 0.3)),
)
EASY, MEDIUM, HARD = Difficulty
RIGHT = {EASY: 0.9, MEDIUM: 0.4, HARD: 0.1}


class LoggedRun:
    """A run that logs rates, and sets and logs its weights as the trainer's callback does."""

    def __init__(self) -> None:
        self.log: list[StepMetrics] = []
        self.schedule = RewardSchedule(SearchWeights(), PHASES, window=2)
        self.weights = weigh_parts(self.schedule.weights)
        self._keep("weight", self.weights)

    def log_step(self, **rates: float) -> None:
        self._keep("part", rates)
        self.weights = self.schedule(self.log, self.weights)
        self._keep("weight", self.weights)

    def _keep(self, kind: str, values: Mapping[str, float]) -> None:
        named = {f"{kind}/{name}": value for name, value in values.items()}
        self.log.append(StepMetrics(step=len(self.log), seconds=0, values=named))


def test_each_phase_begins_when_its_part_is_saturated_and_in_order() -> None:
    run = LoggedRun()
    assert (run.schedule.weights.tool, run.schedule.weights.outcome) == (0.6, 0.0)
    run.log_step(tool_success=0.8, form=1.0, process=1.0)
    run.log_step(tool_success=0.9, form=1.0, process=1.0)
    assert run.schedule.weights == SearchWeights()
    run.log_step(tool_success=1.0, form=1.0, process=1.0)
    assert run.schedule.weights == PHASES[0].weights
    run.log_step(tool_success=0.1, form=1.0, process=1.0)
    assert run.schedule.weights == PHASES[0].weights
    for _ in range(3):
        run.log_step(tool_success=0.1, form=1.0, process=1.0)
    assert run.schedule.weights == PHASES[2].weights
    assert run.weights[RewardPart.OUTCOME] == pytest.approx(0.5)
    assert sum(run.weights.values()) == pytest.approx(1.0)
    assert RewardSchedule(SearchWeights(), PHASES, 2, run.log).weights == PHASES[2].weights


def test_steps_without_a_rate_do_not_saturate_anything() -> None:
    run = LoggedRun()
    for _ in range(4):
        run.log_step(form=1.0)
    assert run.schedule.weights == SearchWeights()


def test_an_accuracy_within_the_bounds_moves_nothing() -> None:
    shares = {EASY: 0.4, MEDIUM: 0.3, HARD: 0.3}
    assert expect_accuracy(shares, RIGHT) == pytest.approx(0.51)
    assert move_shares(shares, RIGHT, 0.1, 0.52, 0.05) == shares


@pytest.mark.parametrize(("accuracies", "wanted"), [(RIGHT, 0.5), ({EASY: 0.3, MEDIUM: 0.02, HARD: 0.0}, 0.1)])
def test_a_round_is_brought_to_the_bound_that_it_misses(accuracies: dict[Difficulty, float], wanted: float) -> None:
    shares = {EASY: 0.6, MEDIUM: 0.2, HARD: 0.2} if wanted == 0.5 else {EASY: 0.2, MEDIUM: 0.4, HARD: 0.4}
    moved = move_shares(shares, accuracies, 0.1, 0.5, 0.05)
    assert expect_accuracy(moved, accuracies) == pytest.approx(wanted)
    assert sum(moved.values()) == pytest.approx(1.0)
    assert min(moved.values()) >= 0.05


def test_where_every_level_is_too_easy_the_hardest_is_drawn() -> None:
    moved = move_shares({EASY: 0.5, MEDIUM: 0.3, HARD: 0.2}, {EASY: 1.0, MEDIUM: 0.9, HARD: 0.8}, 0.1, 0.5, 0.05)
    assert moved == pytest.approx({EASY: 0.05, MEDIUM: 0.05, HARD: 0.9})


def make_mix(*logged: StepMetrics) -> DifficultyMix[None]:
    tasks = {level: [Task(f"{level}-{n}", "?", Language.ENGLISH, None) for n in range(4)] for level in (EASY, HARD)}
    return DifficultyMix(tasks, 3, logged)


def test_tasks_are_drawn_by_the_shares_in_force_and_again_after_a_restart() -> None:
    mix = make_mix()
    drawing = iter(mix)
    drawn = [next(drawing).id for _ in range(200)]
    logged = StepMetrics(step=7, seconds=0, values=dict(mix.change_shares({EASY: 0.1, HARD: 0.9})))
    drawn += [next(drawing).id for _ in range(400)]
    assert 70 < sum(id.startswith("easy") for id in drawn[:200]) < 130
    assert 20 < sum(id.startswith("easy") for id in drawn[200:]) < 60
    assert [task.id for task in islice(make_mix(logged), 600)] == drawn


def test_shares_that_change_before_a_run_that_goes_on_has_drawn_leave_what_was_drawn() -> None:
    logged = StepMetrics(step=3, seconds=0, values={"collected/handed_over": 5, "collected/given_up": 1})
    assert make_mix(logged).change_shares({EASY: 0.1, HARD: 0.9})["mix/from"] == 6


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"start": {"tool": 0.1, "format": 0.1, "process": 0.1}}, "outcome"),
        ({"phases": [{"when": "tool", "reaches": 0.9, "tool": 0.6, "format": 0.3, "process": 0.1}]}, "other weights"),
        ({"phases": [{"when": "outcome", "reaches": 0.9, "tool": 0.2, "format": 0.3, "process": 0.1}]}, "when"),
    ],
)
def test_a_schedule_without_meaning_is_refused(said: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        ScheduleSection.model_validate(said)
