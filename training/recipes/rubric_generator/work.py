"""The work of a rollout: one rubric, written by the policy with the product's own prompt, and its judgement."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

from app.domain.errors import ModelError, ModelUnavailable
from app.domain.missing import Missing
from app.domain.query import Language, ResearchQuery
from training.evaluation.preference_metrics import cohens_d, preference_accuracy
from training.recipes.held_out import MISSING
from training.recipes.reinforcement.best_policy import BY
from training.recipes.reinforcement.policy_source import OpenPolicy
from training.recipes.rubric_generator.config import RubricGeneratorConfig
from training.recipes.rubric_generator.judging import OpenJudge, open_judge
from training.recipes.rubric_generator.reward import PreferredPair, measure_difference, read_written_rubric, reward_rubric
from training.rewards.score import Score
from training.rollouts.collection_failures import CollectionFailed
from training.rollouts.nouns import Reward, Rollout, RolloutEnd, Task
from training.rollouts.rollout_work import Draw, RolloutOutcome, RolloutWork
from workflows.agents.codec import TagCodec
from workflows.agents.kit import Kit
from workflows.agents.ports import ChatModel
from workflows.judging.rubric_generation import RUBRIC, RUBRIC_AGENT, render_rubric_messages
from workflows.prompts.library import PromptLibrary
from workflows.systems.local_record import LocalRecord

CUT = "length"


async def write_rubric(
    question: str,
    language: Language,
    policy: ChatModel,
    record: LocalRecord,
    today: date,
    room: int,
    parts: Sequence[str] = (),
) -> RolloutOutcome:
    """Have the policy write a rubric of at most `room` tokens, once and as it is, from the served prompt.

    `parts` are the titles of the plan.
    """
    kit = Kit(policy, {}, record, PromptLibrary.load(), TagCodec(), today, lambda: 0.0, language=language)
    messages = render_rubric_messages(ResearchQuery(question=question, language=language), kit, parts)
    request = kit.codec.make_request(replace(RUBRIC, max_tokens=room), messages)
    completion = await record.ask(RUBRIC_AGENT, RUBRIC.name, policy, request)
    return RolloutOutcome(completion.text, RolloutEnd.CAPPED if completion.finish_reason == CUT else RolloutEnd.FINISHED)


@asynccontextmanager
async def open_work(
    config: RubricGeneratorConfig, folder: Path, today: date, policy: OpenPolicy
) -> AsyncIterator[RolloutWork[PreferredPair]]:
    """Open the judge, and return how a rubric is written and judged."""
    async with open_judge(config.judge, folder, today) as judge_in:

        async def run(draw: Draw[PreferredPair], record: LocalRecord) -> RolloutOutcome:
            task, room = draw.task, config.rollouts.most_tokens
            return await write_rubric(task.question, task.language, policy(draw.seed), record, today, room, task.material.parts)

        async def reward(task: Task[PreferredPair], rollout: Rollout) -> Reward:
            return await reward_rubric(rollout.output, task.material, judge_in(task.language), config.reward)

        yield RolloutWork(run, reward)


@dataclass(frozen=True, slots=True)
class MeasuredPair:
    """A pair under a rubric of the policy: whether it can be read, and the scores' difference, preferred minus rejected."""

    readable: bool
    difference: Score


async def measure_preference(
    config: RubricGeneratorConfig, tasks: Sequence[Task[PreferredPair]], folder: Path, today: date, policy: OpenPolicy
) -> Mapping[str, float]:
    """Return accuracy (QSR Eq. 6, by which the best policy is chosen), Cohen's d (Eq. 7) and the share of readable rubrics.

    A rubric that cannot be read or written ranks its pair wrongly, and is not in Cohen's d. A pair without a judgement, or for
    which the policy was away, counts nowhere.

    Raises:
        CollectionFailed: no pair has a judgement.
    """
    async with open_judge(config.judge, folder, today) as judge_in:
        asked = [_measure_pair(config, task, policy(config.run.seed + n), today, judge_in) for n, task in enumerate(tasks)]
        pairs = await asyncio.gather(*asked)
    found = [pair.difference for pair in pairs if not isinstance(pair.difference, Missing)]
    unread = sum(not pair.readable for pair in pairs)
    judged = [*found, *[0.0] * unread]
    if not judged:
        raise CollectionFailed(
            "validation: no pair has a judgement; see that policy and judge answer, and run the same command again"
        )
    values = {
        BY: preference_accuracy(judged),
        MISSING: 1 - len(judged) / len(pairs),
        f"{BY}_d": cohens_d(found),
        f"{BY}_readable": 1 - unread / len(pairs),
    }
    return {name: value for name, value in values.items() if not isinstance(value, Missing)}


async def _measure_pair(
    config: RubricGeneratorConfig, task: Task[PreferredPair], policy: ChatModel, today: date, judge_in: OpenJudge
) -> MeasuredPair:
    try:
        room, parts = config.rollouts.most_tokens, task.material.parts
        written = await write_rubric(task.question, task.language, policy, LocalRecord(task.id), today, room, parts)
    except ModelUnavailable as away:
        return MeasuredPair(True, Missing(str(away)))
    except ModelError as error:  # as a question that is too long; other pairs are measured
        return MeasuredPair(False, Missing(str(error)))
    rubric = read_written_rubric(written.output)
    if isinstance(rubric, Missing):
        return MeasuredPair(False, rubric)
    judge = judge_in(task.language)
    return MeasuredPair(True, await measure_difference(rubric, task.material, judge, config.reward.aggregation))
