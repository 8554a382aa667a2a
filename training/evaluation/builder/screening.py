"""Screening of collected questions by a model, several at a time, each question once."""

from collections.abc import Callable
from datetime import UTC, datetime

from app.domain.benchmark import Screening
from app.settings import Settings
from training.evaluation.builder.queue import ReviewQueue
from training.evaluation.harness.models import RunModels, codec_of
from workflows.agents.kit import Kit
from workflows.judging.batch_record import BatchRecord
from workflows.judging.prescreen_judge import prescreen_question
from workflows.prompts.library import PromptLibrary
from workflows.systems.linear_pipeline import Window, run_pipeline


async def screen(
    settings: Settings, queue: ReviewQueue, models: RunModels, at_once: int, told: Callable[[Screening], None]
) -> int:
    """Screen the questions without a verdict, and return how many were asked about. The next call tries failed ones again.

    Raises:
        SetupError: there is no model to ask.
    """
    judge, known = models.require_judge(), queue.read_screenings()
    left = [found for found in queue.read_candidates().values() if found.id not in known or known[found.id].missing]
    kept = queue.open_judge_answers()
    record, prompts, today = BatchRecord(kept, at_once), PromptLibrary.load(), datetime.now(UTC).date()

    def keep(_: object, screening: Screening) -> None:
        queue.keep_screening(screening)
        told(screening)

    try:
        return await run_pipeline(
            left,
            lambda found: prescreen_question(
                Kit(judge.chat, {}, record, prompts, codec_of(settings), today, lambda: 0.0, language=found.language), found
            ),
            keep,
            Window(at_once),
        )
    finally:
        kept.close()
