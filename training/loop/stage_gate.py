"""The gate of a stage, held against its exams and the roles of its model before anything is trained."""

from collections.abc import Mapping
from pathlib import Path

from app.domain.errors import InvalidInput
from app.domain.retraining import StepTask
from app.domain.served_models import ModelRole
from training.loop.exams.catalogue import list_metrics
from training.loop.exams.config import AnyExam, read_exam
from training.loop.gates.plan import COST, OF_COST, GatePlan, read_plan
from training.loop.stage_judges import require_other_judges
from training.loop.stage_task import require_stage

MOVED_BY: Mapping[ModelRole, frozenset[str]] = {
    ModelRole.PLANNER: frozenset({"search_accuracy", COST}),
    ModelRole.SEARCHER: frozenset({"search_accuracy", COST}),
    ModelRole.WRITER: frozenset({"citation_support", COST}),
    ModelRole.RUBRIC: frozenset({"preference_accuracy", COST}),
    ModelRole.JUDGE: frozenset({"preference_accuracy", COST}),
}
"""The metrics with a margin that a model moves by its role. Those of any other role may be `untouched`."""


def read_exams(task: StepTask) -> list[AnyExam]:
    """Read the exams of a stage.

    Raises:
        InvalidInput: one cannot be used, or two are of one kind.
    """
    stage = require_stage(task)
    exams = [read_exam(Path(task.plan) / name) for name in stage.exam]
    if len({exam.kind for exam in exams}) < len(exams):
        raise InvalidInput(f"two exams of the stage {stage.name} are of one kind: name the sets of both in one")
    return exams


def read_stage_gate(task: StepTask) -> GatePlan:
    """Read the gate of a stage. The cost of each exam is a proof of its own.

    Raises:
        InvalidInput: a file cannot be used, or the gate leaves out what the model moves by one of its roles.
    """
    stage, exams = require_stage(task), read_exams(task)
    plan = read_plan(Path(task.plan) / stage.gate, task.began_at)
    for role in sorted(stage.roles):
        if moved := plan.untouched & MOVED_BY[role]:
            raise InvalidInput(f"{stage.gate}: a model in the role {role} moves {', '.join(sorted(moved))}; it is not untouched")
    return plan.model_copy(update={"costs": tuple(name_cost(exam, exams) for exam in exams)})


def check_stage_gate(task: StepTask) -> None:
    """Require that the exams of a stage measure all that its gate wants proven, by other judges than the reward's.

    Raises:
        InvalidInput: as above, a metric comes from no exam, or a judge is the same.
    """
    plan, exams = read_stage_gate(task), read_exams(task)
    require_other_judges(Path(task.plan) / require_stage(task).config, exams)
    given = {name_cost(exam, exams) if name == COST else name for exam in exams for name in list_metrics(exam)}
    if lacking := sorted({proof.metric for proof in plan.list_proofs()} - given):
        raise InvalidInput(
            f"{require_stage(task).gate} wants {', '.join(lacking)} proven, and no exam of the stage measures that: add one that "
            "does (docs/loop.md), or name under untouched what the role cannot move"
        )


def name_cost(exam: AnyExam, exams: list[AnyExam]) -> str:
    """Return the name of an exam's cost: with its kind where there are several exams, whose costs have different sizes."""
    return COST if len(exams) == 1 else f"{OF_COST}{exam.kind}"
