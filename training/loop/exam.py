"""A stage's exam: candidate and present holder answer the same held-out items on the server where they would serve.

`python -m training.loop.exam FOLDER` loads the candidate there under a name that has its digest, and unloads it at the end.
Each answer is stored in the folder as it comes, so that an exam which was killed goes on and pays for none twice.
"""

import asyncio
import sys
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import orjson

from app.domain.retraining import StepOutcome, StepTask, StepVerdict
from app.domain.split import Split
from app.domain.step_folder import SET
from app.domain.training_stage import ModelServer
from app.domain.value import Value
from app.models.artifacts.digests import digest_folder
from training.folders import replace_file
from training.loop.exams.catalogue import take_exam
from training.loop.exams.held_out_rows import name_row
from training.loop.exams.kept_answers import EXAM_ANSWERS, KeptModel
from training.loop.exams.sitting import ExamSitting
from training.loop.gates.held_out import TrainedText
from training.loop.gates.plan import COST
from training.loop.gates.scores import ItemScore, group_scores
from training.loop.stage_gate import name_cost, read_exams
from training.loop.stage_models import describe_generator, endpoint_of
from training.loop.stage_task import folder_of_run, folder_of_set, require_stage
from training.loop.step import run_step
from training.recipes.run_folder import TrainingFolder
from training.synthesis.training_set.folder import ROWS
from workflows.agents.ports import ChatModel
from workflows.chat_models.adapters import load_adapter, unload_adapter
from workflows.chat_models.at_temperature import fix_temperature
from workflows.chat_models.openai_compatible import connect_model
from workflows.judging.batch_record import AnswerStore

SCORES, TRAINED = "scores.jsonl", "trained_on.jsonl"


async def examine(task: StepTask, folder: Path) -> StepOutcome:
    """Score both, and leave the scores for the gate."""
    stage, exams = require_stage(task), read_exams(task)
    async with AsyncExitStack() as stack:
        kept = AnswerStore(folder / EXAM_ANSWERS)
        stack.callback(kept.close)
        holder = await stack.enter_async_context(_connect(stage.server, task.holder or stage.server.base))
        candidate = await stack.enter_async_context(_load(stage.server, TrainingFolder(folder_of_run(task)).model))
        sitting = ExamSitting(
            holder=KeptModel(holder, kept),
            candidate=KeptModel(candidate, kept),
            own_set=folder_of_set(task),
            folder=folder,
            today=task.began_at.date(),  # whichever day it is when an exam goes on, it asks the same
            notation=stage.server.notation,
            generator=describe_generator(task.generator),
        )
        taken = [(name_cost(exam, exams), await take_exam(exam, sitting)) for exam in exams]
    scores = [_rename_cost(score, name) for name, found in taken for score in found]
    _write_lines(folder / SCORES, scores)
    _write_lines(folder / TRAINED, list_trained(task))
    return StepOutcome(
        verdict=StepVerdict.DONE, figures={"items": len({score.item for score in scores}), "means": _means_of(scores)}
    )


def _means_of(scores: Sequence[ItemScore]) -> dict[str, dict[str, float]]:
    found = group_scores(scores)
    return {
        metric: {"before": float(values.before.mean()), "after": float(values.after.mean())}
        for metric, values in found.items()
        if len(values.before)
    }


def _rename_cost(score: ItemScore, name: str) -> ItemScore:
    return score.model_copy(update={"metric": name}) if score.metric == COST else score


def list_trained(task: StepTask) -> list[TrainedText]:
    """List what the cycle learned from, so that the gate finds held-out items among it: the sets of all stages that have one, and
    whatever else the recipe read.
    """
    origin, own = TrainingFolder(folder_of_run(task)).read_origin(), folder_of_set(task)
    named = (Path(name) for name in (origin.config.get("data", {}).get("sets", ()) if origin else ()))
    made = (Path(folder) / SET for folder in task.sets)
    return [trained for folder in dict.fromkeys((own, *made, *named)) for trained in _list_rows(folder, own)]


def _list_rows(folder: Path, own: Path) -> Iterator[TrainedText]:
    file = folder / Split.TRAIN / ROWS
    rows = map(orjson.loads, file.read_bytes().splitlines() if file.exists() else ())
    return (TrainedText(id=name_row(folder, own, row["id"]), text=row["query"]) for row in rows)


def _write_lines(path: Path, rows: Iterable[Value]) -> None:
    replace_file(path, b"".join(row.model_dump_json().encode() + b"\n" for row in rows))


@asynccontextmanager
async def _load(server: ModelServer, adapter: Path) -> AsyncIterator[ChatModel]:
    """Load a candidate for the time of its exam."""
    name = f"exam-{digest_folder(adapter)[:16]}"
    endpoint = endpoint_of(server, name)
    await load_adapter(endpoint, name, adapter)
    try:
        async with connect_model(endpoint) as model:
            yield fix_temperature(model, server.temperature)
    finally:
        await unload_adapter(endpoint, name)


@asynccontextmanager
async def _connect(server: ModelServer, name: str) -> AsyncIterator[ChatModel]:
    async with connect_model(endpoint_of(server, name)) as model:
        yield fix_temperature(model, server.temperature)


if __name__ == "__main__":
    sys.exit(run_step(lambda task, folder: asyncio.run(examine(task, folder))))
