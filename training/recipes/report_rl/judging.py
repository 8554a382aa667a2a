"""Opening what judges reports: the judge's server, and the encoder where relevance is a cosine."""

import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeAlias

from app.domain.query import Language
from app.settings import read_settings
from training.evaluation.harness.world import open_own_encoder
from training.recipes.judge_section import open_judges
from training.recipes.report_rl.config import ReportConfig, ReportRewardSection
from training.recipes.report_rl.relevance import MeasureRelevance, ask_relevance, compare_vectors, compare_words
from training.recipes.report_rl.reward import ReportJudging
from training.rewards.composites import ReportWeights

OpenJudging: TypeAlias = Callable[[Language], ReportJudging]
"""Makes the judging of reports in a language, whose prompts the judge then reads."""


@asynccontextmanager
async def open_judging(config: ReportConfig, folder: Path) -> AsyncIterator[OpenJudging]:
    """Open the judging of one loop. The judge's answers are stored in the run's folder.

    Raises:
        SetupError: there is no encoder.
    """
    section, relevance = config.reward, _find_relevance(config.reward)
    judges = [each for each in (config.judge, config.generator) if each]
    async with open_judges(judges, folder, config.writer.today) as open_kits:

        def judge_in(language: Language) -> ReportJudging:
            kits = open_kits(language)
            return ReportJudging(
                kit=next(iter(kits), None),
                generator=kits[-1] if config.generator else None,
                rubric_weight=section.rubric_weight,
                aggregation=section.aggregation,
                race=section.race,
                relevance=relevance,
                threshold=section.threshold,
                weights=ReportWeights(section.citation_weight, section.format_weight),
                published=section.published,
            )

        yield judge_in


def _find_relevance(section: ReportRewardSection) -> MeasureRelevance:
    if section.relevance == "encoder":
        return compare_vectors(open_own_encoder(read_settings(os.environ)))
    return ask_relevance if section.relevance == "judge" else compare_words
