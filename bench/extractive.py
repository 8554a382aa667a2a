"""`python -m bench.extractive`: measure the share of gold paragraphs that a report written without a model cites.

The extractive agents answer questions of several hops over a pooled corpus through `LocalStages`. The baseline has the same
retriever and the same number of words: it cites the lead sentence of the top passages for the question, best first, up to the
report's length. The agents' settings were chosen on these same questions, in two halves; there are no others.
"""

import argparse
import asyncio
import csv
import hashlib
import json
import re
import tempfile
from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from datetime import date
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

from app.domain.query import ResearchQuery
from app.domain.report import Report
from app.reports.rendering.numbering import number_citations
from bench.result import print_result, print_skipped
from retrieval.encoding.encoder import EncoderBackend, open_encoder
from retrieval.language.sentences import split_sentences
from retrieval.ports import SearchFilter
from retrieval.search.in_process import LocalSearcher, open_local
from retrieval.store.catalogue import Collection, CorpusKind
from workflows.agents.codec import SchemaCodec
from workflows.agents.effort import BOUNDS, LIMITS
from workflows.agents.extractive import EXTRACTIVE
from workflows.agents.kit import Kit
from workflows.chat_models.absent import AbsentModel
from workflows.prompts.library import PromptLibrary
from workflows.systems.local import LocalStages
from workflows.systems.local_record import LocalRecord
from workflows.systems.minddr import research
from workflows.systems.steering import PlanSteering
from workflows.tools.tool_memory import DictToolStore, ToolMemory
from workflows.tools.toolbox import ToolCorpora, build_toolbox

DATA = Path(__file__).resolve().parent.parent.parent / "shared" / "data" / "multihop"
COLLECTION = "multihop"
QUESTIONS = 155
NEAR_DUPLICATE = 0.8
DEEPEST_BASELINE = 100


class MultihopQuestion(NamedTuple):
    """A question with the ids of its gold paragraphs."""

    text: str
    gold: frozenset[str]


class QuestionScore(NamedTuple):
    """The result for one question: recalls in [0, 1], words of the report, its quoted sentences, and how many repeat another."""

    recall: float
    baseline: float
    words: int
    sentences: int
    repeated: int


def load_questions(count: int) -> list[MultihopQuestion]:
    """Return the first `count` questions in the order of a hash of their ids, so that only the ids decide the sample."""
    gold: dict[str, set[str]] = defaultdict(set)
    for path in sorted((DATA / "qrels").glob("*.tsv")):
        with path.open(newline="") as rows:
            for row in csv.DictReader(rows, delimiter="\t"):
                gold[row["query-id"]].add(row["corpus-id"])
    with (DATA / "queries.jsonl").open() as lines:
        records = [json.loads(line) for line in lines]
    records.sort(key=lambda record: hashlib.sha256(record["_id"].encode()).hexdigest())
    return [MultihopQuestion(r["text"], frozenset(gold[r["_id"]])) for r in records if gold[r["_id"]]][:count]


async def measure_question(question: MultihopQuestion, searcher: LocalSearcher) -> QuestionScore:
    """Write the report and the baseline of the same length; return their scores."""
    query = ResearchQuery(question=question.text)
    written = await _write_report(query, searcher)
    words = sum(_count_words(body) for body in number_citations(written).bodies)
    cited = {_document_id_of(citation.quote.source.url) for citation in number_citations(written).citations}
    baseline = {identity async for identity in _cite_leads(question.text, searcher, words)}
    quotations = [citation.quote.text for citation in number_citations(written).citations]
    share = 1 / len(question.gold)
    return QuestionScore(
        len(question.gold & cited) * share,
        len(question.gold & baseline) * share,
        words,
        len(quotations),
        _count_repeated(quotations),
    )


async def _write_report(query: ResearchQuery, searcher: LocalSearcher) -> Report:
    record = LocalRecord("bench")
    kit = Kit(
        chat=AbsentModel(),
        tools=build_toolbox(searcher, searcher, ToolCorpora((COLLECTION,)), ToolMemory(DictToolStore())),
        record=record,
        prompts=PromptLibrary.load(),
        codec=SchemaCodec(),
        today=date(2026, 1, 1),
        clock=lambda: 0.0,
        limits=LIMITS[query.effort],
        bounds=BOUNDS[query.effort],
    )
    return await research(query, LocalStages(EXTRACTIVE, kit, record, query), PlanSteering())


async def _cite_leads(question: str, searcher: LocalSearcher, words: int) -> AsyncIterator[str]:
    """Yield the ids of the top passages, best first, whose lead sentences together come nearest to `words` words."""
    found = await searcher.search(question, DEEPEST_BASELINE, SearchFilter(collections=(COLLECTION,)))
    used = 0
    for passage in found:
        lead = split_sentences(passage.text)[0]
        count = _count_words(passage.text[lead.start : lead.end])
        if used + count / 2 > words:
            return
        used += count
        yield _document_id_of(passage.source.url)


def _document_id_of(url: str) -> str:
    return url.rpartition("/")[2]


def _count_words(text: str) -> int:
    return len(text.split())


def _count_repeated(sentences: Sequence[str]) -> int:
    """Count the sentences that share most of their words with another one."""
    bags = [set(re.findall(r"\w+", sentence.lower())) for sentence in sentences]
    repeated: set[int] = set()
    for (i, one), (j, other) in combinations(enumerate(bags), 2):
        if len(one & other) >= NEAR_DUPLICATE * len(one | other):
            repeated.add(max(i, j))
    return len(repeated)


async def main(options: argparse.Namespace, home: Path) -> None:
    """Index the corpus, answer the questions, print the figures."""
    encoder = open_encoder(EncoderBackend.ONNX, options.models_dir, home / "models", threads=2)
    with open_local(home, Collection(name=COLLECTION, kind=CorpusKind.BEIR, path=str(DATA)), encoder=lambda: encoder) as searcher:
        scores = []
        for number, question in enumerate(load_questions(options.questions), start=1):
            scores.append(await measure_question(question, searcher))
            print(f"{number}: recall {scores[-1].recall:.2f}, baseline {scores[-1].baseline:.2f}, {scores[-1].words} words")
    count, sentences = len(scores), sum(s.sentences for s in scores)
    recall, baseline = sum(s.recall for s in scores) / count, sum(s.baseline for s in scores) / count
    print(f"{count} questions, {sum(s.words for s in scores) / count:.0f} words a report, ratio {recall / baseline:.3f}")
    repeated = sum(s.repeated for s in scores)
    figures = {"gold_recall": recall, "baseline_recall": baseline, "redundancy": repeated / sentences, "questions": count}
    print_result("extractive", figures)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--home", type=Path, help="state folder to use and keep; default: a temporary one")
    parser.add_argument("--models-dir", type=Path, help="folder with encoder weights; default: as the product finds them")
    parser.add_argument("--questions", type=int, default=QUESTIONS)
    arguments = parser.parse_args()
    if not DATA.is_dir():
        print_skipped("extractive", "the multihop questions are not at ../shared/data")
    elif arguments.home is not None:
        asyncio.run(main(arguments, arguments.home))
    else:
        with tempfile.TemporaryDirectory() as folder:
            asyncio.run(main(arguments, Path(folder)))
