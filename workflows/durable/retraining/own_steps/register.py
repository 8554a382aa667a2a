"""The step that makes a version of what was trained, with what it was made of and what its gate says."""

import asyncio
import hashlib
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import orjson

from app.domain.model_versions import EvaluationKind, TrainedModel, TrainedOn, VersionState
from app.domain.retraining import Cycle, CycleEventType, StepOutcome, StepVerdict
from app.domain.step_folder import EXPORT, GATE_TABLE, RUN, SET
from app.domain.training_stage import TrainingStage
from app.models.service.base_licence import read_licence
from app.models.service.cycle_order import Step, StepKind
from app.models.service.registry import add_version, change_state, note_evaluation
from app.models.storage import cycles, versions
from workflows.durable.persistence import persist
from workflows.durable.retraining.own_steps.stage_version import BY, id_of_version, require_stage
from workflows.durable.retraining.workplace import LoopWorkplace

MODEL, ORIGIN, MANIFEST = "model", "origin.json", "manifest.json"
# The validation chose the policy: its rows were learned from too.
LEARNED = ("train", "validation")


async def register_version(place: LoopWorkplace, cycle: Cycle, step: Step, outcomes: Mapping[str, StepOutcome]) -> StepOutcome:
    """Keep the trained model as an artifact and register it; a version that its gate refused is refused here too.

    Raises:
        Unavailable: the store of artifacts does not answer.
    """
    stage = require_stage(step)
    folders = place.folders_of(cycle, stage)
    artifact = await asyncio.to_thread(place.artifacts.put, folders[StepKind.TRAIN] / RUN / MODEL)
    made, pairs = await asyncio.to_thread(_describe, cycle, stage, folders, artifact)
    gate = outcomes[Step(StepKind.GATE, stage).name]
    version = id_of_version(cycle, stage)

    async def add() -> str:
        async with place.database.acquire() as connection, connection.transaction():
            serving = await versions.get_serving(connection, stage.role)
            parent = serving.id if serving and serving.id != version else None
            added = await add_version(
                connection, version, made.model_copy(update={"parent": parent}), pairs, BY, f"made by the cycle {cycle.id}"
            )
            if gate.verdict is StepVerdict.REFUSED and added.state is VersionState.CANDIDATE:
                await change_state(connection, version, VersionState.REFUSED, BY, gate.detail)
            return added.name

    name = await persist(add)
    for kind, figures in _list_evaluations(folders, outcomes, stage):
        await persist(partial(note_evaluation, place.database, version, kind, figures))
    told = {"version": str(version), "name": name, "role": stage.role}
    await persist(lambda: cycles.tell(place.database, cycle.id, CycleEventType.VERSION_MADE, told))
    return StepOutcome(verdict=StepVerdict.DONE, figures=told)


def _describe(
    cycle: Cycle, stage: TrainingStage, folders: Mapping[StepKind, Path], artifact: str
) -> tuple[TrainedModel, list[str]]:
    """Return what the run's folder says of the model, and the rows of the export that it learned from."""
    origin = orjson.loads((folders[StepKind.TRAIN] / RUN / ORIGIN).read_bytes())
    made_from = folders[StepKind.SET] / SET
    manifest = (made_from / MANIFEST).read_bytes()
    files = [made_from / split / "rows.jsonl" for split in LEARNED]
    rows = [orjson.loads(line) for file in files if file.exists() for line in file.read_bytes().splitlines()]
    snapshot = orjson.loads((folders[StepKind.SNAPSHOT] / EXPORT / MANIFEST).read_bytes())
    learned = TrainedOn(
        kind=stage.kind,
        digest=hashlib.sha256(manifest).hexdigest(),
        rows=len(rows),
        key=snapshot["pseudonym_key"],
        consents_at=snapshot["consents_checked_at"],
    )
    made = TrainedModel(
        role=stage.role,
        also=stage.also,
        recipe=origin["recipe"],
        configuration=origin["config"],
        build=origin["code"],
        sets=(learned,),
        artifact=artifact,
        base=stage.server.base,
        notation=stage.server.notation,
        licence=stage.server.licence or read_licence(Path(origin["config"].get("model", {}).get("base", ""))),
        cycle=cycle.id,
    )
    return made, [pair for row in rows for pair in row.get("pairs", ())]


def _list_evaluations(
    folders: Mapping[StepKind, Path], outcomes: Mapping[str, StepOutcome], stage: TrainingStage
) -> list[tuple[EvaluationKind, dict[str, Any]]]:
    found = [
        (EvaluationKind.TRAINING, outcomes[Step(StepKind.TRAIN, stage).name].figures),
        (EvaluationKind.EVALUATION, outcomes[Step(StepKind.EXAM, stage).name].figures),
    ]
    table = folders[StepKind.GATE] / GATE_TABLE
    return [*found, (EvaluationKind.GATE, orjson.loads(table.read_bytes()))] if table.exists() else found
