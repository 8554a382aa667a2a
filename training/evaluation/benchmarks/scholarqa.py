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
from training.evaluation.benchmarks.article import cleaned
from training.evaluation.benchmarks.files import json_rows, one_of, read_all
from training.evaluation.harness.example import Answer, Benchmark, Example, Reading
from training.evaluation.harness.figures import means
from training.evaluation.harness.judging import Judging
from training.evaluation.harness.scores import Scores, scored
from training.rewards.judged import rubric_reward
from training.rewards.score import Score, present
from workflows.checks.claims import ClaimSentence, claims_of
from workflows.judging.citation_judge import CitedSupport, cited_relevance, cited_support, needs_citation
from workflows.judging.list_judges import helpful

RUBRIC, PRECISION = "rubric", "answer_precision"
CITATION_PRECISION, CITATION_RECALL = "citation_precision", "citation_recall"
FIGURES = (RUBRIC, PRECISION, CITATION_PRECISION, CITATION_RECALL)
WORTH = {CitedSupport.FULL: 1.0, CitedSupport.PARTIAL: 0.5, CitedSupport.NONE: 0.0}
MOST_EVIDENCE = 3
"""The number of snippets that the judge sees with a demand; the first ones are the expert's best."""


@dataclass(frozen=True, slots=True)
class _Cited:
    """A sentence with its quotes."""

    text: str
    quotes: tuple[Quote, ...]


async def score_scholarqa(example: Example[tuple[EvidenceCriterion, ...]], answer: Answer, judging: Judging) -> Scores:
    """Score all four figures, 0 to 1."""
    rubric, precision, citations = await asyncio.gather(
        rubric_reward(example.question, answer.text, example.gold, judging.kit),
        answer_precision(example, answer, judging),
        citation_figures(example, answer.report, judging),
    )
    return scored(example.id, {RUBRIC: rubric, PRECISION: precision, **citations})


async def answer_precision(example: Example[Any], answer: Answer, judging: Judging) -> Score:
    """Judge the share of paragraphs that help to answer the question; headings are no paragraphs."""
    blocks = (block.strip() for block in cleaned(answer.text).split("\n\n"))
    paragraphs = [block for block in blocks if block and not block.startswith("#")]
    if not paragraphs:
        return 0.0
    found = await helpful(judging.kit, example.question, paragraphs)
    return found if isinstance(found, Missing) else sum(found) / len(found)


async def citation_figures(example: Example[Any], report: Report | None, judging: Judging) -> Mapping[str, Score]:
    """Judge the precision and recall of citations.

    Recall is the mean over sentences that cite or should cite: 1 for full support, a half for partial support, else 0. Precision
    is the share of single citations that have key content of their sentence. Both are missing where it is not known which
    sentence cites what, and precision where nothing is cited.
    """
    if report is None:
        why = Missing("the report is a text: which sentence cites what is not known")
        return {CITATION_PRECISION: why, CITATION_RECALL: why}
    sentences = _sentences(report)
    recalls = await asyncio.gather(*(_recall(example, report, sentence, judging) for sentence in sentences))
    pairs = [(sentence, quote) for sentence in sentences for quote in sentence.quotes]
    asked = (cited_relevance(judging.kit, example.question, sentence.text, quote.text) for sentence, quote in pairs)
    return {
        CITATION_PRECISION: _mean(await asyncio.gather(*asked)),
        CITATION_RECALL: _mean([r for r in recalls if r is not None]),
    }


async def _recall(example: Example[Any], report: Report, sentence: _Cited, judging: Judging) -> Score | None:
    """Judge one sentence; None where it cites nothing and needs no citation."""
    if sentence.quotes:
        snippets = "\n\n".join(quote.text for quote in sentence.quotes)
        support = await cited_support(judging.kit, example.question, sentence.text, snippets)
        return support if isinstance(support, Missing) else WORTH[support]
    needed = await needs_citation(judging.kit, example.question, report.title, sentence.text)
    if isinstance(needed, Missing):
        return needed
    return 0.0 if needed else None


def _sentences(report: Report) -> list[_Cited]:
    known = {quote.key: quote for quote in report.quotes}

    def cited(sentence: ClaimSentence) -> _Cited:
        keys = dict.fromkeys((*sentence.keys, *sentence.leans_on))
        return _Cited(sentence.text, tuple(known[key] for key in keys if key in known))

    return [cited(sentence) for section in report.sections for sentence in claims_of(section.body)]


def _mean(values: list[float] | list[bool] | list[Any]) -> Score:
    found = present(values)
    if isinstance(found, Missing):
        return found
    return sum(map(float, found)) / len(found) if found else Missing("nothing is cited, or ought to be")


def _file(reading: Reading) -> Path:
    return one_of(reading.data, "cs/test_configs_snippets.json", "test_configs_snippets.json")


def _example(row: dict[str, Any]) -> Example[tuple[EvidenceCriterion, ...]]:
    config = row["metric_config"]["config"]
    gold = tuple(_demand(number, item) for number, item in enumerate(config["other_properties"], 1))
    return Example(str(row["case_id"]), str(config["question"]), Language.ENGLISH, gold)


def _demand(number: int, item: dict[str, Any]) -> EvidenceCriterion:
    return EvidenceCriterion(
        id=f"c{number}",
        type=CriterionType.FACTUAL,
        description=str(item["criterion"]),
        weight=float(item["weight"]),
        evidence=tuple(map(str, item.get("evidence") or ()))[:MOST_EVIDENCE],
    )


def _read(reading: Reading) -> list[Example[tuple[EvidenceCriterion, ...]]]:
    path = _file(reading)
    return list({e.id: e for e in read_all(path, json_rows(path), _example)}.values())


SCHOLARQA = Benchmark(
    name="scholarqa",
    about="ScholarQA: an expert's demands, answer precision, citation precision and recall",
    files=lambda reading: [_file(reading)],
    read=_read,
    score=score_scholarqa,
    figures=means(*FIGURES),
    prompts=("criterion_met", "off_topic", "cited_support", "cited_relevance", "needs_citation"),
)
