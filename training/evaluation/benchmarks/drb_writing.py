"""How reports are written, for DeepResearch Bench's questions: a judge's issues of expression and logic (MindDR Table 6)."""

import asyncio
import re

from pydantic import JsonValue

from app.domain.missing import Missing
from training.evaluation.benchmarks.article import clean_article
from training.evaluation.benchmarks.drb import query_files_of, read_queries
from training.evaluation.harness.example import Benchmark, BenchmarkAnswer, Example
from training.evaluation.harness.figures import ratio_of
from training.evaluation.harness.judging import Judging
from training.evaluation.harness.scores import ItemScores, item_scores_of
from training.rewards.score import require_present
from workflows.judging.writing_judge import judge_writing

PARAGRAPHS, WITH_ISSUES, ISSUES = "paragraphs", "paragraphs_with_issues", "issues"
_HEADING_LINE = re.compile(r"^#{1,6}\s.*$", re.MULTILINE)


async def score_writing(example: Example[None], answer: BenchmarkAnswer, judging: Judging) -> ItemScores:
    """Count a report's paragraphs, those with an issue, and its issues. Every section is judged by itself."""
    sections = [text for text in _HEADING_LINE.split(clean_article(answer.text)) if text.strip()]
    found = require_present(await asyncio.gather(*(judge_writing(judging.kit, text) for text in sections)))
    if isinstance(found, Missing):
        return item_scores_of(example.id, dict.fromkeys((PARAGRAPHS, WITH_ISSUES, ISSUES), found))
    counts = {
        PARAGRAPHS: float(sum(section.paragraphs for section in found)),
        WITH_ISSUES: float(sum(section.with_issues for section in found)),
        ISSUES: float(sum(len(section.issues) for section in found)),
    }
    told: list[JsonValue] = [
        {"kind": issue.kind.value, "words": text[issue.start : issue.end], "reason": issue.reason}
        for text, section in zip(sections, found, strict=True)
        for issue in section.issues
    ]
    return item_scores_of(example.id, counts, told)


WRITING = Benchmark(
    name="drb-writing",
    about="DeepResearch Bench's questions: paragraphs with issues of expression or logic, by a judge",
    files=query_files_of,
    read=lambda reading: read_queries(reading.data),
    score=score_writing,
    figures={"issue_rate": ratio_of(WITH_ISSUES, PARAGRAPHS), "issues_a_paragraph": ratio_of(ISSUES, PARAGRAPHS)},
    prompts=("writing_issues",),
    judged_text=clean_article,
)
