"""`report_rl`: citations and form of short reports."""

import asyncio
import random
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.learning_tasks.beginnings import Start, describe_sft, open_tokenizer
from bench.learning_tasks.protocol import PolicyScores, SeedScores
from bench.learning_tasks.runs import derive_seed, open_saved, open_training, train_on_examples
from bench.learning_tasks.scoring import score_answers
from bench.learning_tasks.short_reports import (
    PortQuestion,
    list_phrases,
    list_questions,
    probe_report,
    rate_report,
    split_subjects,
)
from training.recipes.chatml import MaskedIds, mask_answer
from training.recipes.reinforcement.config import ReinforcementConfig
from training.recipes.reinforcement.tasks import repeat_tasks
from training.recipes.report_rl.config import Writer
from training.recipes.report_rl.data import ReportMaterial, make_task
from training.recipes.report_rl.relevance import compare_words
from training.recipes.report_rl.reward import ReportJudging
from training.recipes.report_rl.rollout import judge_rollout, write_in_one_call
from training.rewards.composites import ReportWeights
from training.rollouts.nouns import Reward, Rollout, Task
from training.rollouts.rollout_work import Draw, RolloutOutcome, RolloutWork
from training.synthesis.trajectories.conversations import TrainedMessage
from workflows.prompts.library import PromptLibrary
from workflows.systems.local_record import LocalRecord

EXAMPLES, QUESTIONS, ITEMS, STEPS = 2_400, 96, 96, 40
TEMPERATURE = 1.0
WHOLE, FORM_ALONE = ReportWeights(1.0, 0.3), ReportWeights(0.0, 0.3)


@dataclass(frozen=True, slots=True)
class ReportTask:
    """The task. Prompt, call and reward are the recipe's own, without RACE; without citations in the ablated reward."""

    recipe: str = "report_rl"
    steps: int = STEPS
    examples: int = EXAMPLES
    items: int = ITEMS

    def run_seed(self, folder: Path, seed: int, start: Start) -> SeedScores:
        """Train and measure."""
        from training.rollouts.tiny_policy import build_tiny_tokenizer

        tokenizer = build_tiny_tokenizer()
        tokenizer.add_tokens(list_phrases(PromptLibrary.load()))
        base, chance = start.make_base(folder / "base", tokenizer, seed), random.Random(seed)
        learned, held_out = split_subjects(seed)
        shown = list_examples(open_tokenizer(base), learned, self.examples, chance)
        taught = train_on_examples(folder / "sft", describe_sft(base, start, seed, 2e-3, 16, 1.5), shown)
        questions = list_questions(learned, QUESTIONS, chance)
        config = describe_rl(taught, start, seed)
        trained = train_reports(folder / "trained", config, questions, WHOLE, self.steps)
        ablated = train_reports(folder / "ablated", config, questions, FORM_ALONE, self.steps)
        asked = list_questions(held_out, self.items, random.Random(f"held out {seed}"))
        scored = [asyncio.run(measure(model, start, asked, seed)) for model in (base, taught, trained, ablated)]
        return SeedScores(scored[0], scored[1], scored[2], scored[3])


def describe_rl(base: Path, start: Start, seed: int) -> ReinforcementConfig:
    """Return the configuration of DAPO."""
    return ReinforcementConfig.model_validate(
        {
            "model": start.describe_model(base),
            "objective": {"name": "dapo"},
            # A policy that meets the ablated reward everywhere has no groups with spread; without the filter it just stays.
            "filter": {"least_spread": 0},
            "optimizer": {
                "learning_rate": start.scale_rate(5e-4),
                "batch_size": start.limit_rows(32),
                "schedule": "constant",
            },
            "rollouts": {
                "group_size": 8,
                "tasks_a_step": 4,
                "most_tokens": start.scale_tokens(32),
                "context": start.scale_tokens(160),
                "rows": 64,
            },
            "run": {"device": start.device, "seed": seed, "samples": 4, "save_every": 1_000},
        }
    )


def list_examples(tokenizer: Any, pairs: Sequence[tuple[str, str]], count: int, chance: random.Random) -> Sequence[MaskedIds]:
    """Return the examples of SFT: reports of the mix."""
    prompts = PromptLibrary.load()
    return [
        mask_answer(
            [TrainedMessage(role=m.role, content=m.content) for m in question.render(prompts)], question.write(chance), tokenizer
        )
        for question in list_questions(pairs, count, chance)
    ]


def train_reports(
    path: Path, config: ReinforcementConfig, questions: Sequence[PortQuestion], weights: ReportWeights, steps: int
) -> Path:
    """Train with a reward; return the folder of the model."""
    from training.recipes.reinforcement.train_policy import PolicyTraining, train_policy

    judging = ReportJudging(None, compare_words, race=False, weights=weights)
    prompts = PromptLibrary.load()
    tasks = [make_task(question.row, Writer.ONE_CALL, prompts) for question in questions]

    @asynccontextmanager
    async def open_work(policy: Any) -> AsyncIterator[RolloutWork[ReportMaterial]]:
        async def run(draw: Draw[ReportMaterial], record: LocalRecord) -> RolloutOutcome:
            return await write_in_one_call(draw.task, policy(draw.seed), record)

        async def judge(task: Task[ReportMaterial], rollout: Rollout) -> Reward:
            return await judge_rollout(task, rollout, judging)

        yield RolloutWork(run, judge)

    with open_training(path, "report_rl", config) as folder:
        train_policy(config, folder, PolicyTraining(repeat_tasks(tasks, config.run.seed), steps, open_work))
        return folder.model


async def measure(model: Path, start: Start, questions: Sequence[PortQuestion], seed: int) -> PolicyScores:
    """Score a policy's reports on held-out questions."""
    prompts = PromptLibrary.load()
    tasks = [make_task(question.row, Writer.ONE_CALL, prompts) for question in questions]
    async with open_saved(model, start, describe_rl(model, start, seed).rollouts, TEMPERATURE) as policy:
        asked = [write_in_one_call(task, policy(derive_seed(seed, n)), LocalRecord(str(n))) for n, task in enumerate(tasks)]
        texts = [outcome.output for outcome in await asyncio.gather(*asked)]
    return score_answers(
        {f"{n}": text for n, text in enumerate(texts)},
        {f"{n}": question for n, question in enumerate(questions)},
        rate_report,
        lambda text, _: probe_report(text),
        key=lambda question: question.subjects,
        ideals=[question.write_right() for question in questions],
    )


TASK = ReportTask()
