"""The score of an output (MDR section 5.4): judges of single dimensions and rules, weighted.

score = weight * mean of the judges + (1 - weight) * rules, rules = 1 - the penalties of the faults, at least 0; all from 0 to 1.
With a weight of 0 no judge is asked.
"""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from statistics import fmean

from app.domain.chat import Completion
from app.domain.missing import Missing
from app.domain.value import Value
from app.reports.rendering.numbering import LOOKS_CITED
from training.evaluation.report_metrics import MeasuredReport, count_report
from training.rewards.score import require_present
from training.synthesis.self_samples.presets import CRITERIA, Dimension, Preset, SampleFault
from training.synthesis.self_samples.prompts import SamplePrompt
from workflows.agents.kit import Kit
from workflows.agents.parsing import remove_thinking
from workflows.checks.answer_faults import CUT_OFF, LOOPED, find_loop
from workflows.checks.markdown_faults import find_markdown_faults
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
    """How outputs are scored: the preset, the weight of the judges, and the day on which the outputs are written."""

    preset: Preset
    weight: float
    today: date

    async def score(self, kit: Kit, prompt: SamplePrompt, output: Completion) -> SampleScore | Missing:
        """Score an output; missing where a judge is."""
        said = remove_thinking(output.text)
        dimensions = self.preset.dimensions if self.weight else ()
        judged = require_present(await asyncio.gather(*(self._judge(kit, prompt, said, d) for d in dimensions)))
        if isinstance(judged, Missing):
            return judged
        found = find_faults(output, prompt, self.today)
        faults = tuple(fault for fault in SampleFault if fault in found and fault in self.preset.penalties)
        rules = max(0.0, 1.0 - sum(self.preset.penalties[fault] for fault in faults))
        met = fmean(each.value for each in judged) if judged else 0.0
        score = self.weight * met + (1.0 - self.weight) * rules
        return SampleScore(score=round(score, DECIMALS), judges=tuple(judged), rules=round(rules, DECIMALS), faults=faults)

    async def _judge(self, kit: Kit, prompt: SamplePrompt, said: str, dimension: Dimension) -> JudgedDimension | Missing:
        criterion = CRITERIA[prompt.language][dimension].format(today=self.today.isoformat())
        met = await judge_criterion(kit, prompt.query, said, criterion)
        return met if isinstance(met, Missing) else JudgedDimension(dimension=dimension, value=met / MOST_MET)


def find_faults(output: Completion, prompt: SamplePrompt, today: date) -> frozenset[SampleFault]:
    """Return every fault that the detectors see, whatever the preset makes of it."""
    return frozenset(_list_faults(output, prompt, today))


def _list_faults(output: Completion, prompt: SamplePrompt, today: date) -> Iterator[SampleFault]:
    said = remove_thinking(output.text)
    counts = count_report(MeasuredReport(said, today, language=prompt.language))
    cited = [int(number) for number in LOOKS_CITED.findall(said)]
    beyond = prompt.passages and any(number > prompt.passages for number in cited)
    there = {
        SampleFault.CUT: output.finish_reason in (CUT_OFF, LOOPED) or find_loop(said),
        SampleFault.TENSE: counts.tense_errors > 0,
        SampleFault.TABLE: counts.faulty_tables > 0,
        SampleFault.NO_TABLE: counts.tables == 0,
        SampleFault.MARKDOWN: bool(find_markdown_faults(said)),
        SampleFault.CITATION: not counts.citations_sound or bool(beyond),
        SampleFault.UNCITED: not cited,
        SampleFault.REPEAT: counts.repeats > 0,
        SampleFault.LANGUAGE: counts.language_breaks > 0,
        SampleFault.HEADING: counts.empty_titles + counts.hierarchy_errors > 0,
    }
    yield from (fault for fault, found in there.items() if found)
