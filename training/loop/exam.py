"""A stage's exam: candidate and present holder answer the same held-out items on the server where they would serve.

`python -m training.loop.exam FOLDER` loads the candidate there under a name that has its digest, and unloads it at the end.
"""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

from app.domain.retraining import ModelServer, StepOutcome, StepTask, StepVerdict
from app.models.artifacts.digests import digest_folder
from training.loop.exams.config import read_exam
from training.loop.exams.rubrics import examine_rubrics
from training.loop.exams.scores import write_scores
from training.loop.stage_task import folder_of_run, folder_of_set, require_stage
from training.loop.step import run_step
from training.recipes.run_folder import TrainingFolder
from workflows.agents.ports import ChatModel
from workflows.chat_models.adapters import load_adapter, unload_adapter
from workflows.chat_models.endpoint import ModelEndpoint, ModelPrices
from workflows.chat_models.openai_compatible import connect_model


async def examine(task: StepTask, folder: Path) -> StepOutcome:
    """Score both, and leave the scores for the gate."""
    stage = require_stage(task)
    config = read_exam(Path(task.plan) / stage.exam)
    async with AsyncExitStack() as stack:
        holder = await stack.enter_async_context(_connect(stage.server, task.holder or stage.server.base))
        candidate = await stack.enter_async_context(_load(stage.server, TrainingFolder(folder_of_run(task)).model))
        today = datetime.now(UTC).date()
        scores = await examine_rubrics(config, [folder_of_set(task)], folder, today, holder, candidate)
    write_scores(folder, scores)
    means = {
        metric: [sum(getattr(score, side) for score in own) / len(own) for side in ("before", "after")]
        for metric in dict.fromkeys(score.metric for score in scores)
        if (own := [score for score in scores if score.metric == metric])
    }
    return StepOutcome(verdict=StepVerdict.DONE, figures={"items": len({score.item for score in scores}), "means": means})


@asynccontextmanager
async def _load(server: ModelServer, adapter: Path) -> AsyncIterator[ChatModel]:
    """Load a candidate for the time of its exam."""
    name = f"exam-{digest_folder(adapter)[:16]}"
    endpoint = _endpoint_of(server, name)
    await load_adapter(endpoint, name, adapter)
    try:
        async with connect_model(endpoint) as model:
            yield model
    finally:
        await unload_adapter(endpoint, name)


def _connect(server: ModelServer, name: str) -> AbstractAsyncContextManager[ChatModel]:
    return connect_model(_endpoint_of(server, name))


def _endpoint_of(server: ModelServer, name: str) -> ModelEndpoint:
    key = os.environ.get(server.key_setting, "") if server.key_setting else ""
    return ModelEndpoint(server.address, name, key, ModelPrices(server.input_price, server.output_price))


if __name__ == "__main__":
    sys.exit(run_step(lambda task, folder: asyncio.run(examine(task, folder))))
