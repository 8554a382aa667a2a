"""The order of a cycle's steps, and how a cycle ends: pure functions of its plan and of the outcomes so far."""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import NamedTuple

from app.domain.retraining import CyclePlan, CycleState, StepOutcome, StepVerdict
from app.domain.training_stage import TrainingStage


class StepKind(StrEnum):
    """The kinds of steps. The first two are taken once a cycle, the others once a stage."""

    SNAPSHOT = "snapshot"
    CHECK = "check"
    SET = "set"
    TRAIN = "train"
    EXAM = "exam"
    GATE = "gate"
    REGISTER = "register"
    SERVE = "serve"
    CANARY = "canary"
    PROMOTE = "promote"


ONCE = (StepKind.SNAPSHOT, StepKind.CHECK)
OF_STAGE = tuple(kind for kind in StepKind if kind not in ONCE)
ENDS_STAGE = (StepVerdict.LACKING, StepVerdict.SKIPPED)


class Step(NamedTuple):
    """One step: its kind, and the stage that it belongs to (None: the whole cycle)."""

    kind: StepKind
    stage: TrainingStage | None = None

    @property
    def name(self) -> str:
        """The name under which its outcome is stored, such as `rubric.train`."""
        return f"{self.stage.name}.{self.kind.value}" if self.stage else self.kind.value


class CycleEnd(NamedTuple):
    """The end of a cycle, with why."""

    state: CycleState
    detail: str = ""


def list_steps(plan: CyclePlan, stage: TrainingStage) -> list[Step]:
    """List the steps of a stage in their order. Without a canary a candidate is promoted by its gate alone."""
    return [Step(kind, stage) for kind in OF_STAGE if kind is not StepKind.CANARY or plan.canary is not None]


def list_all_steps(plan: CyclePlan) -> list[Step]:
    """List all steps that a cycle may take, in their order."""
    return [*map(Step, ONCE), *(step for stage in plan.stages for step in list_steps(plan, stage))]


def find_next(plan: CyclePlan, outcomes: Mapping[str, StepOutcome]) -> Step | CycleEnd:
    """Return the step to take next, or how the cycle has ended."""
    for kind in ONCE:
        outcome = outcomes.get(kind.value)
        if outcome is None:
            return Step(kind)
        if outcome.verdict is not StepVerdict.DONE:
            return _end_by(outcome)
    for stage in plan.stages:
        if stage.needs is not None and not is_promoted(stage.needs, outcomes):
            continue
        for step in list_steps(plan, stage):
            outcome = outcomes.get(step.name)
            if outcome is None and _goes_on(stage, step, outcomes):
                return step
            if outcome is not None and outcome.verdict is StepVerdict.FAILED:
                return CycleEnd(CycleState.FAILED, f"{step.name}: {outcome.detail}")
            if outcome is None or outcome.verdict in ENDS_STAGE:
                break
    return _end_of(plan, outcomes)


def is_promoted(stage: str, outcomes: Mapping[str, StepOutcome]) -> bool:
    """Return whether a stage's version serves."""
    outcome = outcomes.get(f"{stage}.{StepKind.PROMOTE.value}")
    return outcome is not None and outcome.verdict is StepVerdict.DONE


def is_served(stage: str, outcomes: Mapping[str, StepOutcome]) -> bool:
    """Return whether a stage's version is at its server, and neither its gate nor its canary refused it."""
    outcome = outcomes.get(f"{stage}.{StepKind.SERVE.value}")
    return outcome is not None and outcome.verdict is StepVerdict.DONE and not is_refused(stage, outcomes)


def is_refused(stage: str, outcomes: Mapping[str, StepOutcome]) -> bool:
    """Return whether a stage's version was refused by its gate or its canary."""
    return any(outcome.verdict is StepVerdict.REFUSED for outcome in _outcomes_of(stage, outcomes))


def _goes_on(stage: TrainingStage, step: Step, outcomes: Mapping[str, StepOutcome]) -> bool:
    """Return whether a step is due. A refused version is still registered, so that it can be looked at; then the stage ends."""
    return step.kind is StepKind.REGISTER or not is_refused(stage.name, outcomes)


def _outcomes_of(stage: str, outcomes: Mapping[str, StepOutcome]) -> Iterator[StepOutcome]:
    return (outcome for name, outcome in outcomes.items() if name.startswith(f"{stage}."))


def _end_by(outcome: StepOutcome) -> CycleEnd:
    states = {StepVerdict.REFUSED: CycleState.REFUSED, StepVerdict.FAILED: CycleState.FAILED}
    return CycleEnd(states.get(outcome.verdict, CycleState.LACKING), outcome.detail)


def _end_of(plan: CyclePlan, outcomes: Mapping[str, StepOutcome]) -> CycleEnd:
    """Return the end of a cycle whose stages are all over: the best that any of them reached."""
    names = [stage.name for stage in plan.stages]
    if any(is_promoted(name, outcomes) for name in names):
        return CycleEnd(CycleState.PROMOTED)
    state = CycleState.REFUSED if any(is_refused(name, outcomes) for name in names) else CycleState.LACKING
    return CycleEnd(state, "; ".join(f"{name}: {outcome.detail}" for name, outcome in outcomes.items() if outcome.detail))
