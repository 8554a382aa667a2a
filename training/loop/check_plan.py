"""The files of a plan, held against what a cycle would refuse, before one is started: recipes, gates, exams, sets and bases."""

import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from math import ceil
from pathlib import Path
from uuid import UUID

from app.domain.errors import InvalidInput
from app.domain.retraining import CyclePlan, StepTask
from app.domain.split import Split
from app.domain.training_stage import TrainingStage
from app.models.service.plan_files import OF_EXPORTS
from app.settings import Settings
from training.loop.exams.config import OWN_SET, RubricExamConfig
from training.loop.gates.bootstrap import NO_SPREAD
from training.loop.gates.rows import count_needed
from training.loop.set import describe_request
from training.loop.stage_gate import check_stage_gate, read_exams, read_stage_gate
from training.loop.stage_task import fill_recipe, folder_of_set, require_stage
from training.recipes.catalogue import load_recipe
from training.recipes.config import TINY, RecipeConfig, parse_config
from training.synthesis.catalogue import load_kind
from training.synthesis.mined_queries import drop_options
from training.synthesis.public_runs import refuse_public_runs
from training.synthesis.training_set.folder import SetFolder

NO_CYCLE = UUID(int=0)
NO_STEPS = ("check", "set", "train", "exam")


def check_plan_files(path: Path, plan: CyclePlan, settings: Settings) -> list[str]:
    """Check all files of a plan as the steps of a cycle do that began now, and return what is worth knowing of them.

    Raises:
        InvalidInput, NotFound: a cycle would refuse one; the message is the cycle's.
    """
    with tempfile.TemporaryDirectory(prefix="rubrica-plan-") as scratch:
        tasks = [describe_task(path, plan, stage, Path(scratch)) for stage in plan.stages]
        for task in tasks:
            check_stage(task, settings)
        return [line for task in tasks for line in _tell_power(plan, task)]


def describe_task(path: Path, plan: CyclePlan, stage: TrainingStage, scratch: Path = Path()) -> StepTask:
    """Return the task that a stage's first step would have if a cycle began now, over folders in which nothing is."""
    return StepTask(
        cycle=NO_CYCLE,
        step=f"{stage.name}.set",
        plan=str(path.parent.resolve()),
        began_at=datetime.now(UTC),
        since=plan.since,
        checks=plan.checks,
        held_out=plan.held_out,
        stage=stage,
        folders={kind: str(scratch / stage.name / kind) for kind in NO_STEPS},
    )


def check_stage(task: StepTask, settings: Settings) -> None:
    """Check a stage's gate, exams, set and recipe.

    Raises:
        InvalidInput, NotFound: as above.
    """
    check_stage_gate(task)
    request = describe_request(task, settings, folder_of_set(task))
    load_kind(request.kind).require_known(drop_options(request.options))
    refuse_public_runs(request)
    _check_recipe(task, settings.models)
    for exam in read_exams(task):
        named = () if isinstance(exam, RubricExamConfig) else exam.sets
        if missing := [name for name in named if name != OWN_SET and not Path(name).exists()]:
            raise InvalidInput(f"the exam {exam.kind} asks {', '.join(missing)}, and there is no such path")


def _check_recipe(task: StepTask, models: Path) -> None:
    """Check a recipe's configuration, and that the base and the sets that it names are there. Its own set is made later."""
    stage, own = require_stage(task), folder_of_set(task)
    config = parse_config(fill_recipe(task), Path(task.plan) / stage.config, load_recipe(stage.recipe).config, own, models)
    _require_base(stage.config, config, models)
    for named in getattr(getattr(config, "data", None), "sets", ()):
        if named != own.resolve():
            SetFolder(named).read_manifest()


def _require_base(file: str, config: RecipeConfig, models: Path) -> None:
    base = config.model.base
    if base != TINY and not config.model.revision and not Path(base).is_dir():
        raise InvalidInput(
            f"{file}: the base model {base!r} cannot be loaded; name its folder: there is none of this name in {models} "
            "(RUBRICA_MODELS_DIR), and a model of the hub is named with its revision"
        )


def _tell_power(plan: CyclePlan, task: StepTask) -> Iterator[str]:
    """Tell how many questions are held out for the gate of a stage at least, beside how many it takes where nothing changes."""
    stage = require_stage(task)
    if stage.kind != OF_EXPORTS:
        return
    gate = read_stage_gate(task)
    needed = max(count_needed(proof, NO_SPREAD, gate) for proof in gate.list_proofs())
    held_out = _count_held_out(plan, read_exams(task)[0].splits)
    least = plan.checks.least_pairs
    yield f"{stage.name}: of {least} questions, {held_out} are asked by the exam; the gate takes {needed} or more"
    if held_out < needed:
        share = sum(plan.held_out.shares[split] for split in read_exams(task)[0].splits)
        yield (
            f"warning: with so few {stage.name} is not promoted: hold more out (held_out), or wait for more votes "
            f"(checks.least_pairs); at these shares it takes votes on {ceil(needed / share)} questions"
        )


def _count_held_out(plan: CyclePlan, splits: tuple[Split, ...]) -> int:
    """Count the questions that an exam asks at least, if there is one decided vote for each."""
    return sum(round(plan.held_out.shares[split] * plan.checks.least_pairs) for split in splits)
