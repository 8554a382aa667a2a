"""`rubric_generator`: rubrics that rank planted preferences."""

import asyncio
import random
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path
from typing import Any

from app.domain.chat import ChatRequest, ChatRole, Message
from app.domain.query import Language
from bench.learning_tasks.beginnings import Start, build_tokenizer, describe_sft, open_tokenizer
from bench.learning_tasks.protocol import PolicyScores, SeedScores
from bench.learning_tasks.rubric_grammar import (
    OPENINGS,
    SEEN,
    UNSEEN,
    PlantedQuestion,
    list_phrases,
    list_questions,
    probe_rubric,
    rate_rubric,
    write_order,
    write_report,
    write_rubric,
)
from bench.learning_tasks.runs import derive_seed, open_saved, open_training, train_on_examples
from bench.learning_tasks.scoring import score_answers
from training.recipes.chatml import MaskedIds, mask_answer
from training.recipes.reinforcement.config import ReinforcementConfig
from training.recipes.reinforcement.tasks import repeat_tasks
from training.recipes.rubric_generator.config import Mode, RewardSection, Scaling
from training.recipes.rubric_generator.reward import PreferredPair, reward_rubric
from training.recipes.rubric_generator.rule_judge import RuleJudge
from training.rollouts.nouns import Reward, Rollout, RolloutEnd, Task
from training.rollouts.rollout_work import Draw, RolloutOutcome, RolloutWork
from training.synthesis.trajectories.conversations import TrainedMessage
from workflows.agents.ports import ChatModel
from workflows.systems.local_record import LocalRecord

EXAMPLES, QUESTIONS, ITEMS, STEPS = 1_000, 720, 60, 90
"""A step has 8 questions, so that none comes twice: of 96 a policy learns by heart which places want what."""
QUALITY = 0.25
"""The weight of the judge's view. With 1 a policy asks for all that can be checked, at the same weight, before it reads."""
TEMPERATURE = 1.0
SPREAD = 0.1
"""The spread of the first weights. With .02 SFT of these minutes does not learn to read its prompt."""


@dataclass(frozen=True, slots=True)
class RubricTask:
    """The task. A rubric is asked for by the question alone; form, judge and reward are the recipe's own."""

    recipe: str = "rubric_generator"
    steps: int = STEPS

    def run_seed(self, folder: Path, seed: int, start: Start) -> SeedScores:
        """Train and measure."""
        base = start.make_base(folder / "base", build_tokenizer(list_phrases()), seed, SPREAD)
        chance = random.Random(seed)
        held_out = list_questions(UNSEEN, ITEMS, random.Random(f"held out {seed}"))
        shown = list_examples(open_tokenizer(base), chance)
        taught = train_on_examples(folder / "sft", describe_sft(base, start, seed, 3e-3, 32, 6), shown)
        tasks, config = list_tasks(chance), describe_rl(taught, start, seed)
        hybrid, judged = RewardSection(scaling=Scaling.BALANCED, quality=QUALITY), RewardSection(mode=Mode.JUDGE_ONLY)
        trained = train_rubrics(folder / "trained", config, tasks, hybrid, self.steps)
        ablated = train_rubrics(folder / "ablated", config, tasks, judged, self.steps)
        scored = [asyncio.run(measure(model, start, held_out, seed)) for model in (base, taught, trained, ablated)]
        return SeedScores(scored[0], scored[1], scored[2], scored[3])


def describe_rl(base: Path, start: Start, seed: int) -> ReinforcementConfig:
    """Return the configuration of GRPO."""
    return ReinforcementConfig.model_validate(
        {
            "model": start.describe_model(base),
            "optimizer": {
                "learning_rate": start.scale_rate(5e-4),
                "batch_size": start.limit_rows(32),
                "schedule": "constant",
            },
            "rollouts": {
                "group_size": 8,
                "tasks_a_step": 8,
                "most_tokens": start.scale_tokens(24),
                "context": start.scale_tokens(96),
                "rows": 64,
            },
            "run": {"device": start.device, "seed": seed, "samples": 4, "save_every": 1_000},
        }
    )


def list_examples(tokenizer: Any, chance: random.Random) -> Sequence[MaskedIds]:
    """Return the examples of SFT: rubrics that know little of their questions."""
    asked = [
        (question, [TrainedMessage(role=ChatRole.USER, content=question.text)])
        for question in list_questions(SEEN, EXAMPLES, chance)
    ]
    return [mask_answer(prompt, write_rubric(chance, {question.wanted}), tokenizer) for question, prompt in asked]


def list_tasks(chance: random.Random) -> list[Task[PreferredPair]]:
    """Return the tasks: questions with their two reports."""
    return [
        Task(f"q{n}", q.text, Language.ENGLISH, PreferredPair(q.text, write_report(q.wanted), write_report(q.other)))
        for n, q in enumerate(list_questions(SEEN, QUESTIONS, chance))
    ]


def train_rubrics(
    path: Path, config: ReinforcementConfig, tasks: Sequence[Task[PreferredPair]], section: RewardSection, steps: int
) -> Path:
    """Train with a reward; return the folder of the model."""
    from training.recipes.reinforcement.train_policy import PolicyTraining, train_policy

    @asynccontextmanager
    async def open_work(policy: Any) -> AsyncIterator[RolloutWork[PreferredPair]]:
        async def run(draw: Draw[PreferredPair], record: LocalRecord) -> RolloutOutcome:
            return await ask_for_rubric(draw.task.question, policy(draw.seed), record)

        async def judge(task: Task[PreferredPair], rollout: Rollout) -> Reward:
            return await reward_rubric(rollout.output, task.material, RuleJudge(), section)

        yield RolloutWork(run, judge)

    with open_training(path, "rubric_generator", config) as folder:
        train_policy(config, folder, PolicyTraining(repeat_tasks(tasks, config.run.seed), steps, open_work))
        return folder.model


async def ask_for_rubric(question: str, policy: ChatModel, record: LocalRecord) -> RolloutOutcome:
    """Ask for a rubric by the question alone."""
    request = ChatRequest(messages=(Message(role=ChatRole.USER, content=question),))
    said = await record.ask("rubric", "rubric", policy, request)
    return RolloutOutcome(said.text, RolloutEnd.FINISHED)


async def measure(model: Path, start: Start, questions: Sequence[PlantedQuestion], seed: int) -> PolicyScores:
    """Score a policy's rubrics of held-out questions."""
    async with open_saved(model, start, describe_rl(model, start, seed).rollouts, TEMPERATURE) as policy:
        asked = [ask_for_rubric(q.text, policy(derive_seed(seed, n)), LocalRecord(str(n))) for n, q in enumerate(questions)]
        texts = [outcome.output for outcome in await asyncio.gather(*asked)]
    return score_answers(
        {f"{n}": text for n, text in enumerate(texts)},
        {f"{n}": question for n, question in enumerate(questions)},
        rate_rubric,
        lambda text, _: probe_rubric(text),
        key=lambda question: question.wanted,
        ideals=[write_order(names) for names in permutations(OPENINGS)],
    )


TASK = RubricTask()
