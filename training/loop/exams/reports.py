"""The exam of a writer: the same prompts of the one writing call, as they are served, to candidate and holder.

Rules mark every report (MDR 5.4): what its citations carry, and the faults of form, tense, tables and citations. A judge, where
there is one, marks it by the rubric of its question (QSR Eq. 2), and spoilt copies of it too.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

from app.domain.chat import ChatRequest
from app.domain.errors import InvalidInput
from app.domain.missing import Missing
from app.domain.rubric import Rubric
from training.loop.exams.citation_support import measure_support
from training.loop.exams.config import ReportExamConfig
from training.loop.exams.marks import Marks, join_marks
from training.loop.exams.probes import SPOILERS
from training.loop.exams.report_items import ReportItem, read_items
from training.loop.exams.sitting import ExamSitting
from training.loop.gates.plan import COST, PROBE
from training.loop.gates.scores import ItemScore
from training.recipes.judge_section import JudgeSection, OpenKits, open_judges
from training.rewards.quote_citations import number_quotes, read_draft
from training.rewards.sameness import has_words
from training.rewards.score import Score, require_present
from training.synthesis.self_samples.presets import PRESETS, SampleFault
from training.synthesis.self_samples.scoring import find_faults
from workflows.agents.kit import Kit
from workflows.agents.ports import ChatModel
from workflows.agents.reporting.whole_prompt import WHOLE_REPORT
from workflows.agents.stage_memory import REPORTER
from workflows.judging.rubric_generation import write_query_specific_rubric
from workflows.judging.rubric_judge import score_answer
from workflows.systems.local_record import LocalRecord

QUALITY, RULES, SUPPORT = "report_quality", "report_rules", "citation_support"
SOUND: Mapping[str, frozenset[SampleFault]] = {
    "sound_form": frozenset({SampleFault.CUT, SampleFault.FORM, SampleFault.MARKDOWN, SampleFault.HEADING}),
    "sound_tense": frozenset({SampleFault.TENSE}),
    "sound_tables": frozenset({SampleFault.TABLE}),
    "sound_citations": frozenset({SampleFault.CITATION, SampleFault.UNCITED}),
}
"""1 for a report that has none of these faults, else 0."""
PENALTIES = PRESETS["reports"]


@dataclass(frozen=True, slots=True)
class ReportJudge:
    """Scores reports by the rubric of their question. Both models' reports meet the same rubric."""

    config: ReportExamConfig
    open_kits: OpenKits

    async def find_rubric(self, item: ReportItem) -> Rubric | Missing:
        """Return the row's rubric, or have one written; the judges' store keeps it."""
        if item.rubric is not None:
            return item.rubric
        return await write_query_specific_rubric(self.open_kits(item.prompt.language)[-1], item.prompt.query)

    async def mark(self, item: ReportItem, shown: str, rubric: Rubric | Missing, probed: bool) -> dict[str, Score]:
        """Return the report's score, and what each spoilt copy gains over it. One without words has nothing to spoil."""
        probes = [PROBE + name for name in SPOILERS if probed]
        if isinstance(rubric, Missing):
            return dict.fromkeys((QUALITY, *probes), rubric)
        if not has_words(shown):
            return dict.fromkeys((QUALITY, *probes), 0.0)
        spoilt = [SPOILERS[name.removeprefix(PROBE)](shown, item.prompt.query, rubric) for name in probes]
        kit = self.open_kits(item.prompt.language)[0]
        plain, *others = await asyncio.gather(*(self._score(kit, item, each, rubric) for each in (shown, *spoilt)))
        return {QUALITY: plain, **{name: _subtract(other, plain) for name, other in zip(probes, others, strict=True)}}

    async def _score(self, kit: Kit, item: ReportItem, shown: str, rubric: Rubric) -> Score:
        return (await score_answer(kit, item.prompt.query, shown, rubric)).total(self.config.aggregation)


@dataclass(frozen=True, slots=True)
class ReportExam:
    """How reports are asked for and marked."""

    config: ReportExamConfig
    judge: ReportJudge | None
    room: asyncio.Semaphore

    async def compare(self, place: int, item: ReportItem, holder: ChatModel, candidate: ChatModel) -> list[ItemScore]:
        """Return the scores of an item: of the holder's report and of the candidate's."""
        probed = place % self.config.probe_each == 0
        async with self.room:
            rubric = await self.judge.find_rubric(item) if self.judge else Missing("nobody judges")
            before, after = await asyncio.gather(*(self._mark(item, model, rubric, probed) for model in (holder, candidate)))
        return list(join_marks(item.prompt.query, item.id, before, after))

    async def _mark(self, item: ReportItem, model: ChatModel, rubric: Rubric | Missing, probed: bool) -> Marks:
        record, prompt = LocalRecord(item.id), item.prompt
        request = ChatRequest(messages=prompt.messages, max_tokens=self.config.most_tokens)
        written = await record.ask(REPORTER, WHOLE_REPORT.name, model, request)
        draft = read_draft(written.text, prompt.notation)
        faults = find_faults(written, prompt)
        marks: dict[str, Score] = {
            COST: float(record.usage.output_tokens),
            RULES: PENALTIES.weigh(faults) if has_words(draft) else 0.0,
            SUPPORT: measure_support(draft, item.passages, prompt.language),
            **{metric: float(not faults & found) for metric, found in SOUND.items()},
        }
        if self.judge:
            marks |= await self.judge.mark(item, number_quotes(draft, prompt.ids), rubric, probed)
        return marks


async def examine_reports(config: ReportExamConfig, sitting: ExamSitting) -> list[ItemScore]:
    """Have both write each report, and mark these.

    Raises:
        NotFound, InvalidInput: the sets cannot be used, or have no rubric to judge by.
    """
    items = read_items(config, sitting)
    if config.judge and not config.generator and (bare := next((item.id for item in items if item.rubric is None), "")):
        raise InvalidInput(f"{bare} has no rubric to judge by: name the model that writes them under [generator]")
    async with _open_judge(config, sitting) as judge:
        exam = ReportExam(config, judge, asyncio.Semaphore(config.at_once))
        found = await asyncio.gather(*(exam.compare(n, item, sitting.holder, sitting.candidate) for n, item in enumerate(items)))
    return [score for scores in found for score in scores]


@asynccontextmanager
async def _open_judge(config: ReportExamConfig, sitting: ExamSitting) -> AsyncIterator[ReportJudge | None]:
    if config.judge is None:
        yield None
        return
    generator = _find_generator(config, sitting)
    models = [config.judge, *([generator] if generator else [])]
    async with open_judges(models, sitting.folder, sitting.today) as open_kits:
        yield ReportJudge(config, open_kits)


def _find_generator(config: ReportExamConfig, sitting: ExamSitting) -> JudgeSection | None:
    """Return what writes rubrics: the model that the exam names, or the stage's."""
    if config.generator is None or isinstance(config.generator, JudgeSection):
        return config.generator
    if sitting.generator is None:
        raise InvalidInput(f"the exam has its rubrics written by {config.generator}, and no model has that role")
    return sitting.generator


def _subtract(other: Score, plain: Score) -> Score:
    found = require_present([other, plain])
    return found if isinstance(found, Missing) else found[0] - found[1]
