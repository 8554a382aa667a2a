"""ScholarQA with the four figures of its second version: weighted demands, helpful paragraphs, citation precision and recall.

Citations are judged only for reports of our systems, whose sentences know their quotes.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.domain.evidence import Quote
from app.domain.evidence_rubric import CriterionType, EvidenceCriterion
from app.domain.missing import Missing
from app.domain.query import Language
from app.domain.report import Report
from training.evaluation.benchmarks.article import clean_article
from training.evaluation.benchmarks.files import find_file, read_all, read_json_rows
from training.evaluation.harness.example import Benchmark, BenchmarkAnswer, BenchmarkInput, Example
from training.evaluation.harness.figures import means_of
from training.evaluation.harness.judging import Judging
from training.evaluation.harness.scores import ItemScores, item_scores_of
from training.rewards.deeprubric import judge_rubric_reward
from training.rewards.score import Score, require_present
from workflows.checks.claims import ClaimSentence, claims_of
from workflows.judging.citation_judge import CitedSupport, judge_citation_need, judge_cited_relevance, judge_cited_support
from workflows.judging.list_judges import judge_helpfulness

RUBRIC, PRECISION = "rubric", "answer_precision"
CITATION_PRECISION, CITATION_RECALL = "citation_precision", "citation_recall"
FIGURES = (RUBRIC, PRECISION, CITATION_PRECISION, CITATION_RECALL)
WORTH = {CitedSupport.FULL: 1.0, CitedSupport.PARTIAL: 0.5, CitedSupport.NONE: 0.0}
MOST_EVIDENCE = 3
"""The number of snippets that the judge sees with a demand; the first ones are the expert's best."""


@dataclass(frozen=True, slots=True)
class _CitedSentence:
    """A sentence with its quotes."""

    text: str
    quotes: tuple[Quote, ...]


async def score_scholarqa(
    example: Example[tuple[EvidenceCriterion, ...]], answer: BenchmarkAnswer, judging: Judging
) -> ItemScores:
    """Score all four figures, 0 to 1."""
    rubric, precision, citations = await asyncio.gather(
        judge_rubric_reward(example.question, answer.text, example.gold, judging.kit),
        judge_answer_precision(example, answer, judging),
        judge_citations(example, answer.report, judging),
    )
    return item_scores_of(example.id, {RUBRIC: rubric, PRECISION: precision, **citations})


async def judge_answer_precision(example: Example[Any], answer: BenchmarkAnswer, judging: Judging) -> Score:
    """Judge the share of paragraphs that help to answer the question; headings are no paragraphs."""
    blocks = (block.strip() for block in clean_article(answer.text).split("\n\n"))
    paragraphs = [block for block in blocks if block and not block.startswith("#")]
    if not paragraphs:
        return 0.0
    found = await judge_helpfulness(judging.kit, example.question, paragraphs)
    return found if isinstance(found, Missing) else sum(found) / len(found)


async def judge_citations(example: Example[Any], report: Report | None, judging: Judging) -> Mapping[str, Score]:
    """Judge the precision and recall of citations.

    Recall is the mean over sentences that cite or should cite: 1 for full support, a half for partial support, else 0. Precision
    is the share of single citations that have key content of their sentence. Both are missing where it is not known which
    sentence cites what, and precision where nothing is cited.
    """
    if report is None:
        why = Missing("the report is a text: which sentence cites what is not known")
        return {CITATION_PRECISION: why, CITATION_RECALL: why}
    sentences = _sentences_of(report)
    recalls = await asyncio.gather(*(_judge_recall(example, report, sentence, judging) for sentence in sentences))
    pairs = [(sentence, quote) for sentence in sentences for quote in sentence.quotes]
    asked = (judge_cited_relevance(judging.kit, example.question, sentence.text, quote.text) for sentence, quote in pairs)
    return {
        CITATION_PRECISION: _mean_of(await asyncio.gather(*asked)),
        CITATION_RECALL: _mean_of([r for r in recalls if r is not None]),
    }


async def _judge_recall(example: Example[Any], report: Report, sentence: _CitedSentence, judging: Judging) -> Score | None:
    """Judge one sentence; None where it cites nothing and needs no citation."""
    if sentence.quotes:
        snippets = "\n\n".join(quote.text for quote in sentence.quotes)
        support = await judge_cited_support(judging.kit, example.question, sentence.text, snippets)
        return support if isinstance(support, Missing) else WORTH[support]
    needed = await judge_citation_need(judging.kit, example.question, report.title, sentence.text)
    if isinstance(needed, Missing):
        return needed
    return 0.0 if needed else None


def _sentences_of(report: Report) -> list[_CitedSentence]:
    known = {quote.key: quote for quote in report.quotes}

    def cited(sentence: ClaimSentence) -> _CitedSentence:
        keys = dict.fromkeys((*sentence.keys, *sentence.leans_on))
        return _CitedSentence(sentence.text, tuple(known[key] for key in keys if key in known))

    return [cited(sentence) for section in report.sections for sentence in claims_of(section.body)]


def _mean_of(values: list[float] | list[bool] | list[Any]) -> Score:
    found = require_present(values)
    if isinstance(found, Missing):
        return found
    return sum(map(float, found)) / len(found) if found else Missing("nothing is cited, or ought to be")


def _data_file(reading: BenchmarkInput) -> Path:
    return find_file(reading.data, "cs/test_configs_snippets.json", "test_configs_snippets.json")


def _read_example(row: dict[str, Any]) -> Example[tuple[EvidenceCriterion, ...]]:
    config = row["metric_config"]["config"]
    gold = tuple(_read_demand(number, item) for number, item in enumerate(config["other_properties"], 1))
    return Example(str(row["case_id"]), str(config["question"]), Language.ENGLISH, gold)


def _read_demand(number: int, item: dict[str, Any]) -> EvidenceCriterion:
    return EvidenceCriterion(
        id=f"c{number}",
        type=CriterionType.FACTUAL,
        description=str(item["criterion"]),
        weight=float(item["weight"]),
        evidence=tuple(map(str, item.get("evidence") or ()))[:MOST_EVIDENCE],
    )


def _read_examples(reading: BenchmarkInput) -> list[Example[tuple[EvidenceCriterion, ...]]]:
    path = _data_file(reading)
    return list({e.id: e for e in read_all(path, read_json_rows(path), _read_example)}.values())


SCHOLARQA = Benchmark(
    name="scholarqa",
    about="ScholarQA: an expert's demands, answer precision, citation precision and recall",
    files=lambda reading: [_data_file(reading)],
    read=_read_examples,
    score=score_scholarqa,
    figures=means_of(*FIGURES),
    prompts=("criterion_met", "off_topic", "cited_support", "cited_relevance", "needs_citation"),
)
