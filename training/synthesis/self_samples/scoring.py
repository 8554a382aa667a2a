"""The score of an output (MDR section 5.4): judges of single dimensions and rules, weighted.

score = weight * mean of the judges + (1 - weight) * rules, rules = 1 - the penalties of the faults, at least 0; all from 0 to 1.
With a weight of 0 no judge is asked.
"""

import asyncio
from dataclasses import dataclass
from statistics import fmean

from app.domain.chat import Completion
from app.domain.missing import Missing
from app.domain.rubric import Rubric
from app.domain.value import Value
from training.evaluation.report_metrics import MeasuredReport, count_report
from training.rewards.quote_citations import keep_known, list_quote_citations, number_quotes, read_draft
from training.rewards.sameness import has_words
from training.rewards.score import require_present
from training.synthesis.self_samples.presets import CRITERIA, Dimension, Preset, SampleFault
from training.synthesis.self_samples.prompts import SamplePrompt
from workflows.agents.kit import Kit
from workflows.agents.parsing import remove_thinking
from workflows.checks.answer_faults import CUT_OFF, LOOPED, find_loop
from workflows.checks.markdown_faults import find_markdown_faults
from workflows.judging.rubric_judge import score_answer
from workflows.judging.score_judges import MOST_MET, judge_criterion

DECIMALS = 4


class JudgedDimension(Value):
    """A judge's verdict on one dimension, from 0 to 1."""

    dimension: Dimension
    value: float


class SampleScore(Value):
    """A score with its parts."""

    score: float
    judges: tuple[JudgedDimension, ...]
    rules: float
    faults: tuple[SampleFault, ...]


@dataclass(frozen=True, slots=True)
class Scoring:
    """How outputs are scored: the preset, and the weight of the judges."""

    preset: Preset
    weight: float

    async def score(
        self, kit: Kit, prompt: SamplePrompt, output: Completion, rubric: Rubric | None = None
    ) -> SampleScore | Missing:
        """Score an output; missing where a judge is. One without a report has no points, and no judge is asked.

        `rubric` is the question's, where the preset judges by it.
        """
        draft = read_draft(output.text, prompt.notation)
        found = find_faults(output, prompt)
        faults = tuple(fault for fault in SampleFault if fault in found and fault in self.preset.penalties)
        rules = self.preset.weigh(faults)
        if not has_words(draft):
            return SampleScore(score=0.0, judges=(), rules=0.0, faults=faults)
        shown = number_quotes(draft, prompt.ids)
        asked = [self._judge(kit, prompt, shown, each) for each in self.preset.dimensions] if self.weight else []
        asked += [_judge_by_rubric(kit, prompt, shown, rubric)] if rubric else []
        judged = require_present(await asyncio.gather(*asked))
        if isinstance(judged, Missing):
            return judged
        met = fmean(each.value for each in judged) if judged else 0.0
        score = self.weight * met + (1.0 - self.weight) * rules
        return SampleScore(score=round(score, DECIMALS), judges=tuple(judged), rules=round(rules, DECIMALS), faults=faults)

    async def _judge(self, kit: Kit, prompt: SamplePrompt, shown: str, dimension: Dimension) -> JudgedDimension | Missing:
        criterion = CRITERIA[prompt.language][dimension].format(today=prompt.asked_on.isoformat())
        met = await judge_criterion(kit, prompt.query, shown, criterion)
        return met if isinstance(met, Missing) else JudgedDimension(dimension=dimension, value=met / MOST_MET)


async def _judge_by_rubric(kit: Kit, prompt: SamplePrompt, shown: str, rubric: Rubric) -> JudgedDimension | Missing:
    """Score a report by a query-specific rubric (QSR Eq. 2, bounded as in ADR 0025)."""
    total = (await score_answer(kit, prompt.query, shown, rubric)).total()
    return total if isinstance(total, Missing) else JudgedDimension(dimension=Dimension.RUBRIC, value=round(total, DECIMALS))


def find_faults(output: Completion, prompt: SamplePrompt) -> frozenset[SampleFault]:
    """Return every fault that the detectors see in the report of an output, whatever the preset makes of it.

    They read it as a reader does: the ids that its writer was shown are numbers. Any other citation is a faulty one.
    """
    draft = read_draft(output.text, prompt.notation)
    shown = number_quotes(draft, prompt.ids)
    counts = count_report(MeasuredReport(shown, prompt.asked_on, language=prompt.language))
    there = {
        SampleFault.CUT: output.finish_reason in (CUT_OFF, LOOPED) or find_loop(remove_thinking(output.text)),
        SampleFault.FORM: not draft,
        SampleFault.TENSE: counts.tense_errors > 0,
        SampleFault.TABLE: counts.faulty_tables > 0,
        SampleFault.NO_TABLE: counts.tables == 0,
        SampleFault.MARKDOWN: bool(find_markdown_faults(shown)),
        SampleFault.CITATION: not counts.citations_sound,
        SampleFault.UNCITED: not keep_known(list_quote_citations(draft), prompt.ids),
        SampleFault.REPEAT: counts.repeats > 0,
        SampleFault.LANGUAGE: counts.language_breaks > 0,
        SampleFault.HEADING: counts.empty_titles + counts.hierarchy_errors > 0,
    }
    return frozenset(fault for fault, found in there.items() if found)
