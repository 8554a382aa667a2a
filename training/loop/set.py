"""The set that a stage of a cycle learns from. `python -m training.loop.set FOLDER`.

It is made of what the plan names as inputs: what the checks left of the cycle's export, runs and sets that are there already, or
collections. A set that samples a policy asks the base at the stage's own server, and not the model of the settings. It belongs to
the build that began it: another build begins it anew, and says so.
"""

import asyncio
import os
import sys
from collections.abc import Mapping
from pathlib import Path

from app.domain.retraining import StepOutcome, StepTask, StepVerdict
from app.domain.split import Split
from app.domain.step_folder import SET
from app.domain.training_stage import THE_EXPORT, TrainingStage
from app.settings import Settings, read_settings
from training.decontamination.public_sets import locate_benchmarks
from training.evaluation.harness.starting import PACKAGES
from training.loop.check import KEPT
from training.loop.stage_gate import check_stage_gate, read_exams
from training.loop.stage_models import NOBODY, find_policy_base, lacks_generator, name_generator_of, name_policy
from training.loop.stage_task import require_stage
from training.loop.step import run_step
from training.synthesis.catalogue import load_kind
from training.synthesis.make_requested_set import make_requested_set
from training.synthesis.named_models import GENERATOR_URL, NamedModels
from training.synthesis.set_request import BASE, SetRequest
from training.synthesis.training_set.finishing import KNOWN_STAGE, SPLIT_STAGE
from training.synthesis.training_set.folder import REFUSED, SetFolder
from workflows.code_digest import digest_code

WHY_REFUSED = {SPLIT_STAGE: "as near-copies of held-out questions, or of their evidence", KNOWN_STAGE: "as rows of public sets"}


async def make_stage_set(task: StepTask, folder: Path) -> StepOutcome:
    """Make the set. Where it has fewer rows for training than the stage wants, say how many are missing.

    Nothing is made for a model that its gate could not pass, nor without the generator that set or exams ask for rubrics.
    """
    check_stage_gate(task)
    stage = require_stage(task)
    if lacks_generator(task, read_exams(task)):
        return StepOutcome(verdict=StepVerdict.LACKING, detail=NOBODY)
    settings, said = read_settings(os.environ), forget_other_build(folder / SET)
    request = describe_request(task, settings, folder / SET)
    manifest = await make_requested_set(_settings_of(stage, settings), request, lambda worked: None, name_models(task))
    rows = manifest.rows.get(Split.TRAIN, 0)
    lacks = rows < stage.least_rows
    return StepOutcome(
        verdict=StepVerdict.LACKING if lacks else StepVerdict.DONE,
        detail=tell_lack(rows, stage.least_rows, manifest.refused, folder / SET / REFUSED) if lacks else "",
        figures={"rows": manifest.rows, "refused": manifest.refused, "notices": manifest.notices, "said": said},
        usd=manifest.usage.cost_microusd / 1_000_000,
    )


def tell_lack(rows: int, least: int, refused: Mapping[str, int], file: Path) -> str:
    """Tell how many rows are missing, and what was refused, for which reason, and where that can be read."""
    reasons = ", ".join(f"{count} {WHY_REFUSED.get(each, f'at the step {each}')}" for each, count in refused.items())
    told = f"; refused were {reasons}: {file}" if reasons else ""
    return f"{rows} rows for training of {least}; {least - rows} are missing{told}"


def forget_other_build(path: Path) -> list[str]:
    """Begin a set anew that another build began, and return what there is to say of that. Answers that were paid for stay."""
    made = SetFolder(path)
    begun = made.read_origin()
    if begun is None or begun.code == (code := digest_code(PACKAGES)):
        return []
    made.begin_anew()
    return [f"the set begins anew: the build {begun.code} began it, and this is {code}"]


def describe_request(task: StepTask, settings: Settings, out: Path) -> SetRequest:
    """Return the request for a stage's set. Samples are those of the weights that the recipe begins with, unless options say so.

    Raises:
        InvalidInput: there is no such kind, or the recipe names no base.
    """
    stage, export = require_stage(task), Path(task.folders["check"]) / KEPT
    options = dict(stage.options)
    if BASE in load_kind(stage.kind).options and BASE not in options:
        options[BASE] = find_policy_base(Path(task.plan) / stage.config, settings.models)
    inputs = tuple(export if name == THE_EXPORT else Path(name) for name in stage.inputs)
    return SetRequest(stage.kind, out, stage.most_rows, corpora=stage.collections, inputs=inputs, options=options)


def name_models(task: StepTask) -> NamedModels:
    """Return the models that a stage's set asks in place of those that the settings name, as far as its kind asks such."""
    stage, known = require_stage(task), load_kind(require_stage(task).kind).options
    return NamedModels(
        policy=name_policy(stage.server) if BASE in known else None,
        generator=name_generator_of(task) if GENERATOR_URL in known else None,
    )


def _settings_of(stage: TrainingStage, settings: Settings) -> Settings:
    """Return the settings for a stage: its collections may be those of another home, as a stack that is up has its own open."""
    if not stage.home:
        return settings
    kept = {"models_dir": settings.models, "benchmarks_dir": locate_benchmarks(settings)}
    return settings.model_copy(update={"home": Path(stage.home), **kept})


if __name__ == "__main__":
    sys.exit(run_step(lambda task, folder: asyncio.run(make_stage_set(task, folder))))
