"""A run of reinforcement learning over a random tiny policy: a rollout is one answer, and its reward is known."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from app.domain.chat import ChatRequest, ChatRole, Message
from app.domain.query import Language
from training.recipes.reinforcement.config import ReinforcementConfig
from training.recipes.reinforcement.tasks import repeat_tasks
from training.recipes.run_folder import TrainingFolder, TrainingOrigin
from training.rollouts.nouns import Reward, Rollout, RolloutEnd, Task
from training.rollouts.rollout_work import Draw, JudgeRollout, RolloutOutcome, RolloutWork
from workflows.systems.local_record import LocalRecord

STEPS = 4
SECTIONS: Mapping[str, Any] = {
    "model": {"base": "tiny-random"},
    "optimizer": {"learning_rate": 1e-3, "batch_size": 2, "schedule": "constant"},
    "rollouts": {"group_size": 4, "tasks_a_step": 2, "most_tokens": 4, "context": 64, "rows": 1},
    "validation": {"eval_every": 2},
    "run": {"device": "cpu", "save_every": 1, "samples": 2},
}


def make_config(**sections: Mapping[str, Any]) -> ReinforcementConfig:
    """Return a configuration with some values changed."""
    return ReinforcementConfig.model_validate({**SECTIONS, **{name: SECTIONS.get(name, {}) | v for name, v in sections.items()}})


def train_small(
    folder: Path, config: ReinforcementConfig, steps: int = STEPS, judged: JudgeRollout[int] | None = None, **given: Any
) -> TrainingFolder:
    """Train in a folder. `judged` judges instead of `judge`."""
    from training.recipes.reinforcement.train_policy import PolicyTraining, train_policy

    tasks = [Task(f"t{n}", f"Say {n}.", Language.ENGLISH, n) for n in range(4)]
    run = TrainingFolder(folder)
    origin = TrainingOrigin(
        recipe="small",
        config=config.model_dump(mode="json"),
        code="",
        packages={},
        data={},
        base={},
        device="CPU",
        started_at=datetime(2026, 1, 1, tzinfo=UTC),
    )
    with run.open_run(origin):
        train_policy(
            config, run, PolicyTraining(repeat_tasks(tasks, 0), steps, lambda policy: open_work(policy, judged or judge), **given)
        )
    return run


@asynccontextmanager
async def open_work(policy: Any, judged: JudgeRollout[int]) -> AsyncIterator[RolloutWork[int]]:
    """Open the work."""

    async def run(draw: Draw[int], record: LocalRecord) -> RolloutOutcome:
        return await answer(draw.task.question, policy(draw.seed), record)

    yield RolloutWork(run, judged)


async def answer(question: str, policy: Any, record: LocalRecord) -> RolloutOutcome:
    """Ask the policy once."""
    request = ChatRequest(messages=(Message(role=ChatRole.USER, content=question),))
    completion = await record.ask("small", "answer", policy, request)
    return RolloutOutcome(completion.text, RolloutEnd.FINISHED)


async def judge(task: Task[int], rollout: Rollout) -> Reward:
    """Reward the share of the letter e, and of words."""
    parts = {"letters": rollout.output.count("e") / 10, "words": len(rollout.output.split()) / 10}
    return Reward(sum(parts.values()), parts)


async def validate(policy: Any) -> Mapping[str, float]:
    """Measure an answer."""
    said = await answer("Say 9.", policy(1), LocalRecord("validation"))
    return {"validation": float(said.output.count("e")), "validation_chars": float(len(said.output))}
