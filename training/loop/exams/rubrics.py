"""The exam of a rubric generator: does its rubric rank a held-out pair of reports as its readers did (QSR Eq. 6)?"""

import asyncio
from dataclasses import dataclass
from datetime import date

from app.domain.missing import Missing
from app.domain.rubric import Rubric
from training.loop.exams.config import RubricExamConfig
from training.loop.exams.marks import Marks, join_marks
from training.loop.exams.probes import SPOILERS
from training.loop.exams.sitting import ExamSitting
from training.loop.gates.plan import COST, PROBE
from training.loop.gates.scores import ItemScore
from training.recipes.rubric_generator.data import FORMS, PairLine
from training.recipes.rubric_generator.judging import OpenJudge, RubricJudge, open_judge
from training.recipes.rubric_generator.reward import PreferredPair, measure_difference, read_written_rubric
from training.recipes.rubric_generator.work import write_rubric
from training.recipes.training_data import read_rows
from training.rewards.score import Score
from workflows.agents.ports import ChatModel
from workflows.systems.local_record import LocalRecord

ACCURACY, READABLE = "preference_accuracy", "readable_rubric"


@dataclass(frozen=True, slots=True)
class RubricExam:
    """How rubrics are asked for and marked. Of every `probe_each`-th pair the spoilt answers are marked too."""

    config: RubricExamConfig
    judge_in: OpenJudge
    today: date
    room: asyncio.Semaphore

    async def compare(self, place: int, row: PairLine, holder: ChatModel, candidate: ChatModel) -> list[ItemScore]:
        """Return the scores of a pair, under the rubric of the holder and under the candidate's."""
        probed = place % self.config.probe_each == 0
        before, after = await asyncio.gather(*(self._mark(row, model, probed) for model in (holder, candidate)))
        return list(join_marks(row.query, row.id, before, after))

    async def _mark(self, row: PairLine, model: ChatModel, probed: bool) -> Marks:
        """Have a model write a rubric, and mark it. One that cannot be read ranks the pair wrongly, and pays for nothing."""
        async with self.room:
            record = LocalRecord(row.id)
            room = self.config.most_tokens
            written = await write_rubric(row.query, row.language, model, record, self.today, room, row.parts)
            cost = {COST: float(record.usage.output_tokens)}
            rubric, probes = read_written_rubric(written.output), SPOILERS if probed else {}
            if isinstance(rubric, Missing):
                return cost | {ACCURACY: 0.0, READABLE: 0.0} | {PROBE + name: 0.0 for name in probes}
            judge = self.judge_in(row.language)
            ranked = await self._measure(row, rubric, judge, row.accepted.text, row.rejected.text)
            right = ranked if isinstance(ranked, Missing) else float(ranked > 0)
            gained = {PROBE + name: await self._spoil(row, rubric, judge, name) for name in probes}
            return cost | {ACCURACY: right, READABLE: 1.0} | gained

    async def _spoil(self, row: PairLine, rubric: Rubric, judge: RubricJudge, name: str) -> Score:
        """Return how much higher the rubric scores a report that is spoilt than the same one as it was."""
        plain = row.accepted.text
        return await self._measure(row, rubric, judge, SPOILERS[name](plain, row.query, rubric), plain)

    async def _measure(self, row: PairLine, rubric: Rubric, judge: RubricJudge, one: str, other: str) -> Score:
        return await measure_difference(rubric, PreferredPair(row.query, one, other), judge, self.config.aggregation)


async def examine_rubrics(config: RubricExamConfig, sitting: ExamSitting) -> list[ItemScore]:
    """Have both write a rubric for each held-out pair of the stage's set, and mark these."""
    rows = [row for split in config.splits for row in read_rows([sitting.own_set], FORMS, split)][: config.most_items or None]
    async with open_judge(config.judge, sitting.folder, sitting.today) as judge_in:
        exam = RubricExam(config, judge_in, sitting.today, asyncio.Semaphore(config.at_once))
        asked = (exam.compare(n, row, sitting.holder, sitting.candidate) for n, row in enumerate(rows))
        found = await asyncio.gather(*asked)
    return [score for scores in found for score in scores]
