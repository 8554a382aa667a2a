"""`python -m bench.rubric_judging --base-url URL --model NAME`: does one call over all criteria rate as a call a criterion does?

A hundred pairs: five English reports of DeepResearch Bench with twenty of their task's criteria each. Each is rated in the
product's form (`criterion_judge`: all criteria of a report in one call) and in the paper's (QSR C.2, `rubric_judge`: a call a
criterion), by any OpenAI-compatible server; its key is read from RUBRICA_LLM_API_KEY.
`--retest` rates in the paper's form twice instead: the other form cannot agree with it more than it does with itself.

`kappa` is Cohen's over what passes, `weighted_kappa` over the ratings, with quadratic weights; `mean_difference` is the
product's rating less the paper's, from 0 to 1; `tokens_ratio` what the product's form reads and writes over what the paper's
does; `unrated` counts pairs that one of both did not rate.
"""

import argparse
import asyncio
import os
from collections.abc import Sequence
from datetime import date
from itertools import islice
from statistics import fmean
from typing import NamedTuple

from app.domain.missing import Missing
from app.domain.race_rubric import RaceRubric
from app.domain.report import Report, Section
from app.domain.rubric import Criterion
from app.domain.scorecard import PASSES_FROM
from app.preferences.service.agreement import cohens_kappa
from bench.labelled_sets import DATA, read_lines
from bench.result import print_result, print_skipped
from training.evaluation.race_files import read_criteria
from workflows.agents.codec import SchemaCodec
from workflows.agents.kit import Bounds, Kit
from workflows.agents.ports import ChatModel
from workflows.chat_models.endpoint import ModelEndpoint
from workflows.chat_models.openai_compatible import connect_model
from workflows.judging.criterion_judge import judge_criteria
from workflows.judging.rubric_judge import judge_conformity
from workflows.prompts.library import PromptLibrary
from workflows.systems.local_record import LocalRecord

DRB = DATA / "drb"
FIRST_ENGLISH_TASK = 51
REPORTS, CRITERIA = 5, 20
REPORT_CHARS = 60_000
Ratings = list[float | None]


class JudgedReport(NamedTuple):
    """A report, its question, and the criteria that it is judged by."""

    question: str
    report: Report
    criteria: tuple[Criterion, ...]


def load_reports() -> list[JudgedReport]:
    """Read the first English reports with their criteria."""
    rubrics = read_criteria(DRB / "criteria.jsonl.gz")
    rows = (row for row in read_lines(DRB / "onyx_reports.jsonl.gz") if int(row["id"]) >= FIRST_ENGLISH_TASK)
    return [_make_judged(row["prompt"], row["article"], rubrics[int(row["id"])]) for row in islice(rows, REPORTS)]


def _make_judged(question: str, article: str, rubric: RaceRubric) -> JudgedReport:
    demands = (item.criterion for items in rubric.criteria.values() for item in items)
    criteria = (Criterion(title=d[:120], description=f"Important Criterion: {d}", weight=3) for d in islice(demands, CRITERIA))
    report = Report(title=question[:200], sections=(Section(heading="Report", body=article[:REPORT_CHARS]),))
    return JudgedReport(question, report, tuple(criteria))


async def rate_at_once(judged: JudgedReport, kit: Kit) -> Ratings:
    """Rate a report by all criteria in one call."""
    return [score.score for score in await judge_criteria(judged.criteria, judged.question, judged.report, kit)]


async def rate_one_by_one(judged: JudgedReport, kit: Kit) -> Ratings:
    """Rate a report by each criterion in a call of its own."""
    [section] = judged.report.sections
    asked = (judge_conformity(kit, judged.question, section.body, criterion.demand) for criterion in judged.criteria)
    return [None if isinstance(score, Missing) else score for score in await asyncio.gather(*asked)]


def compare(first: Sequence[float | None], second: Sequence[float | None]) -> dict[str, float]:
    """Return how far two lists of ratings from 0 to 1 agree."""
    pairs = [(a, b) for a, b in zip(first, second, strict=True) if a is not None and b is not None]
    figures: dict[str, float] = {"pairs": len(pairs), "unrated": len(first) - len(pairs)}
    if not pairs:
        return figures
    passed = cohens_kappa([a >= PASSES_FROM for a, _ in pairs], [b >= PASSES_FROM for _, b in pairs])
    by_chance = fmean((a - b) ** 2 for a, _ in pairs for _, b in pairs)
    figures |= {"kappa": passed.kappa} if passed.kappa is not None else {}
    figures |= {"weighted_kappa": 1 - fmean((a - b) ** 2 for a, b in pairs) / by_chance} if by_chance else {}
    return figures | {"same_side": passed.observed or 0.0, "mean_difference": fmean(a - b for a, b in pairs)}


def make_kit(chat: ChatModel, record: LocalRecord) -> Kit:
    """Return what a judge needs."""
    bounds = Bounds(conversation_chars=REPORT_CHARS)
    return Kit(chat, {}, record, PromptLibrary.load(), SchemaCodec(), date(2026, 1, 1), lambda: 0.0, bounds=bounds)


async def measure(endpoint: ModelEndpoint, reports: Sequence[JudgedReport], retest: bool) -> dict[str, float]:
    """Rate all reports in both forms, and compare."""
    records = LocalRecord("first"), LocalRecord("second")
    found: tuple[Ratings, Ratings] = [], []
    async with connect_model(endpoint) as chat:
        kits = [make_kit(chat, record) for record in records]
        for judged in reports:
            found[0].extend(await (rate_one_by_one if retest else rate_at_once)(judged, kits[0]))
            found[1].extend(await rate_one_by_one(judged, kits[1]))
    first, second = (record.usage.tokens for record in records)
    return compare(*found) | {"tokens_ratio": first / max(1, second)}


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base-url")
    parser.add_argument("--model")
    parser.add_argument("--retest", action="store_true")
    asked = parser.parse_args()
    if not DRB.exists() or not asked.base_url or not asked.model:
        print_skipped(
            "rubric_judging", "name a server and its model; the reports are those of DeepResearch Bench (shared/data/drb)"
        )
        return
    endpoint = ModelEndpoint(asked.base_url, asked.model, os.environ.get("RUBRICA_LLM_API_KEY", ""))
    print_result("rubric_judging", asyncio.run(measure(endpoint, load_reports(), asked.retest)), [asked.model])


if __name__ == "__main__":
    main()
