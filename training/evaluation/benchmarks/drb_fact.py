"""FACT for DeepResearch Bench's questions: the number of a report's citations, and of those that their pages support.

Our systems' reports know which sentence cites what, and their pages are kept with the run. From other reports a judge extracts
the cited facts, and their pages come in the file (`"pages": {address: text}` in a row); an absent page is unknown. The judge's
questions and the counts are FACT's; `official` leaves items without a judged citation out of the means.
"""

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence

from pydantic import JsonValue

from app.domain.missing import Missing
from app.domain.report import Report
from training.evaluation.benchmarks.drb import OFFICIAL, STRICT, query_files_of, read_queries
from training.evaluation.harness.example import Benchmark, BenchmarkAnswer, Example
from training.evaluation.harness.figures import mean_of, ratio_of
from training.evaluation.harness.judging import Judging
from training.evaluation.harness.scores import ItemScores, item_scores_of
from workflows.checks.claims import claims_of
from workflows.judging.fact_judge import PageVerdict, judge_page, list_cited_facts, list_distinct_facts

CITATIONS, VALID, JUDGED, UNKNOWN = "citations", "valid", "judged", "unknown"
Verdicts = Mapping[str, Sequence[tuple[str, PageVerdict]]]


async def score_fact(example: Example[None], answer: BenchmarkAnswer, judging: Judging) -> ItemScores:
    """Count the citations, those that their pages support, the judged ones, and those whose page is unknown."""
    facts = cited_facts_of(answer.report) if answer.report else await list_cited_facts(judging.kit, answer.text)
    if isinstance(facts, Missing):
        return _missing_scores(example, facts)
    by_page: dict[str, list[str]] = defaultdict(list)
    for fact, url in facts:
        by_page[url].append(fact)
    asked = (_judge_page(judging, url, found, answer) for url, found in by_page.items())
    verdicts = dict(zip(by_page, await asyncio.gather(*asked), strict=True))
    if reasons := [found.reason for found in verdicts.values() if isinstance(found, Missing)]:
        return _missing_scores(example, Missing("; ".join(dict.fromkeys(reasons))))
    return count_verdicts(
        example.id, {url: found for url, found in verdicts.items() if not isinstance(found, Missing)}, judging.variant
    )


def count_verdicts(item: str, verdicts: Verdicts, variant: str) -> ItemScores:
    """Return the counts of one item. In the official way an item without a judged citation has no counts."""
    flat = [verdict for found in verdicts.values() for _, verdict in found]
    unknown, valid = flat.count(PageVerdict.UNKNOWN), flat.count(PageVerdict.SUPPORTED)
    judged = len(flat) - unknown
    detail: dict[str, JsonValue] = {
        url: [{"fact": fact, "verdict": verdict.value} for fact, verdict in found] for url, found in verdicts.items()
    }
    if variant == OFFICIAL and not judged:
        return item_scores_of(item, {}, detail)
    citations = judged if variant == OFFICIAL else len(flat)
    figures = {CITATIONS: float(citations), VALID: float(valid), JUDGED: float(judged), UNKNOWN: float(unknown)}
    return item_scores_of(item, figures, detail)


def cited_facts_of(report: Report) -> list[tuple[str, str]]:
    """Return the sentences with the addresses they cite, each address once."""
    known = {quote.key: quote.source.url for quote in report.quotes}
    sentences = [sentence for section in report.sections for sentence in claims_of(section.body)]
    return [
        (sentence.text, url)
        for sentence in sentences
        for url in dict.fromkeys(known[key] for key in (*sentence.keys, *sentence.leans_on) if key in known)
    ]


async def _judge_page(
    judging: Judging, url: str, facts: Sequence[str], answer: BenchmarkAnswer
) -> Sequence[tuple[str, PageVerdict]] | Missing:
    distinct = await list_distinct_facts(judging.kit, facts)
    if isinstance(distinct, Missing):
        return distinct
    page = judging.page(answer.pages[url]) if url in answer.pages else ""
    found = await judge_page(judging.kit, page, distinct)
    return found if isinstance(found, Missing) else list(zip(distinct, found, strict=True))


def _missing_scores(example: Example[None], why: Missing) -> ItemScores:
    return item_scores_of(example.id, dict.fromkeys((CITATIONS, VALID, JUDGED, UNKNOWN), why))


FACT = Benchmark(
    name="drb-fact",
    about="DeepResearch Bench, FACT: citations a report, those their pages bear out, and their share",
    files=query_files_of,
    read=lambda reading: read_queries(reading.data),
    score=score_fact,
    figures={
        CITATIONS: mean_of(CITATIONS),
        VALID: mean_of(VALID),
        "valid_rate": ratio_of(VALID, JUDGED),
        "unknown_rate": ratio_of(UNKNOWN, CITATIONS),
    },
    prompts=("facts", "same_facts", "page_facts"),
    variants=(STRICT, OFFICIAL),
)
