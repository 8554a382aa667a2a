"""The exam of a rubric generator: does its rubric rank a held-out pair of reports as its readers did (QSR Eq. 6)?"""

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from datetime import date
from pathlib import Path
from typing import NamedTuple

from app.domain.missing import Missing
from training.loop.exams.config import ExamConfig
from training.loop.exams.scores import ItemScore
from training.recipes.rubric_generator.data import FORMS, PairLine
from training.recipes.rubric_generator.judging import RubricJudge, open_judge
from training.recipes.rubric_generator.reward import PreferredPair, measure_difference, read_written_rubric
from training.recipes.rubric_generator.work import write_rubric
from training.recipes.training_data import read_rows
from training.rewards.score import Score
from workflows.agents.ports import ChatModel
from workflows.systems.local_record import LocalRecord

ACCURACY, READABLE, TOKENS = "preference_accuracy", "readable_rubric", "rubric_tokens"


class RubricMarks(NamedTuple):
    """The marks of one rubric: whether it ranks its pair as readers did, whether it can be read, and its tokens."""

    right: float
    readable: float
    tokens: float


async def examine_rubrics(
    config: ExamConfig, sets: Sequence[Path], folder: Path, today: date, holder: ChatModel, candidate: ChatModel
) -> list[ItemScore]:
    """Have both write a rubric for each held-out pair, and mark them. A pair without a judgement of both counts nowhere."""
    rows = [row for split in config.splits for row in read_rows(sets, FORMS, split)][: config.most_items or None]
    room = asyncio.Semaphore(config.at_once)
    async with AsyncExitStack() as stack:
        judge_in = await stack.enter_async_context(open_judge(config.judge, folder, today))

        async def mark(row: PairLine, model: ChatModel) -> RubricMarks | Missing:
            async with room:
                return await _mark_rubric(row, model, judge_in(row.language), today, config)

        marked = await asyncio.gather(*(mark(row, model) for row in rows for model in (holder, candidate)))
    both = zip(rows, marked[::2], marked[1::2], strict=True)
    return [score for row, before, after in both for score in _compare(row, before, after)]


async def _mark_rubric(
    row: PairLine, model: ChatModel, judge: RubricJudge, today: date, config: ExamConfig
) -> RubricMarks | Missing:
    record = LocalRecord(row.id)
    written = await write_rubric(row.query, row.language, model, record, today)
    tokens = float(record.usage.output_tokens)
    rubric = read_written_rubric(written.output)
    if isinstance(rubric, Missing):
        return RubricMarks(0.0, 0.0, tokens)
    pair = PreferredPair(row.query, row.accepted.text, row.rejected.text)
    difference: Score = await measure_difference(rubric, pair, judge, config.aggregation)
    return difference if isinstance(difference, Missing) else RubricMarks(float(difference > 0), 1.0, tokens)


def _compare(row: PairLine, before: RubricMarks | Missing, after: RubricMarks | Missing) -> list[ItemScore]:
    if isinstance(before, Missing) or isinstance(after, Missing):
        return []
    marks = zip((ACCURACY, READABLE, TOKENS), before, after, strict=True)
    return [ItemScore(metric=name, query=row.query, item=row.id, before=old, after=new) for name, old, new in marks]
