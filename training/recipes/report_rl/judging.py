"""Opening what judges reports: the judge's server, and the encoder where relevance is a cosine."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import date
from pathlib import Path

from app.domain.errors import SetupError
from app.domain.query import Language
from app.settings import Settings, read_settings
from training.evaluation.harness.world import open_own_encoder
from training.recipes.report_rl.config import JudgeSection, ReportConfig, ReportRewardSection
from training.recipes.report_rl.relevance import MeasureRelevance, ask_relevance, compare_vectors, compare_words
from training.recipes.report_rl.reward import ReportJudging
from training.rewards.composites import ReportWeights
from workflows.agents.codec import SchemaCodec, TagCodec
from workflows.agents.kit import Kit
from workflows.chat_models.configured import judge_of
from workflows.chat_models.endpoint import ModelEndpoint
from workflows.chat_models.openai_compatible import connect_model
from workflows.judging.batch_record import AnswerStore, BatchRecord
from workflows.prompts.library import PromptLibrary


@asynccontextmanager
async def open_judging(config: ReportConfig, kept: Path) -> AsyncIterator[ReportJudging]:
    """Open the judging of one loop. Answers are stored in the file `kept`, so that a resumed run asks nothing again.

    Raises:
        SetupError: there is no judge, or no encoder.
    """
    settings = read_settings(os.environ)
    if not config.needs_judge:
        yield _make_judging(config.reward, None, settings)
        return
    store = AnswerStore(kept)
    try:
        async with connect_model(find_judge(config.judge, settings)) as chat:
            codec = TagCodec() if config.judge.codec == "tags" else SchemaCodec()
            record = BatchRecord(store, config.judge.at_once)
            kit = Kit(chat, {}, record, PromptLibrary.load(), codec, date.min, lambda: 0.0)
            yield _make_judging(config.reward, kit, settings)
    finally:
        store.close()


def require_judge(config: ReportConfig) -> None:
    """Require that the judge is named, before a run begins.

    Raises:
        SetupError: the reward asks one, and neither configuration nor settings name it.
    """
    if config.needs_judge:
        find_judge(config.judge, read_settings(os.environ))


def find_judge(section: JudgeSection, settings: Settings) -> ModelEndpoint:
    """Return the judge's endpoint.

    Raises:
        SetupError: neither configuration nor settings name one.
    """
    named = judge_of(settings)
    if not section.model:
        if named is None:
            raise SetupError("the reward asks a judge: name it in [judge], or set RUBRICA_EVAL_JUDGE_MODEL or RUBRICA_LLM_MODEL")
        return named
    return ModelEndpoint(section.base_url, section.model, api_key=named.api_key if named else "")


def in_language(judging: ReportJudging, language: Language) -> ReportJudging:
    """Return the judging of reports in a language, whose prompts the judge then reads."""
    if judging.kit is None:
        return judging
    return replace(judging, kit=replace(judging.kit, language=language))


def _make_judging(section: ReportRewardSection, kit: Kit | None, settings: Settings) -> ReportJudging:
    return ReportJudging(
        kit=kit,
        race=section.race,
        relevance=_find_relevance(section, settings),
        threshold=section.threshold,
        weights=ReportWeights(section.citation_weight, section.format_weight),
        published=section.published,
    )


def _find_relevance(section: ReportRewardSection, settings: Settings) -> MeasureRelevance:
    if section.relevance == "encoder":
        return compare_vectors(open_own_encoder(settings))
    return ask_relevance if section.relevance == "judge" else compare_words
