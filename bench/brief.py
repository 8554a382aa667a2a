"""`python -m bench.brief`: measure which share of the gold a report without a model quotes.

Five sets: `corpus` (the default corpus), `documents` (folders of manuals, papers, notes and tables, English and Chinese),
`articles` and `articles_zh` (folders of encyclopedia articles, and of abstracts), and `multihop` (questions over several
paragraphs). Each has two halves by source: the brief was built on `build`, and `judge`
decides. Beside it stand three answers with as many words: the best sentence of each passage that BM25 finds (`bm25`), the best
sentences of all those passages (`sentences`), and the first sentence of each that the hybrid search finds (`lead`). `over_bm25`
is the brief's share over the better one of the first two.
`--questions F` measures rows of {"question", "gold": [excerpts], "docs": a folder beside F, or null for the default corpus}
instead.
"""

import argparse
import asyncio
import tempfile
from collections.abc import Sequence
from hashlib import sha256
from itertools import groupby
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from bench.brief_answers import quote_best, quote_best_of_each, quote_leads, score_by_words, write_brief
from bench.brief_questions import HALVES, BriefQuestion, load_labelled, load_multihop_questions, read_questions
from bench.gathered_questions import load_gathered
from bench.labelled_sets import DATA
from bench.result import print_result
from retrieval.encoding.answer_rater import AnswerRater, open_rater
from retrieval.encoding.encoder import Encoder, EncoderBackend, open_encoder
from retrieval.language.blocks import count_words
from retrieval.search.in_process import SOTU, LocalSearcher, open_local
from retrieval.store.catalogue import Collection, CorpusKind

MULTIHOP = Collection(name="multihop", kind=CorpusKind.BEIR, path=str(DATA / "multihop"))

BUILT = ("gold_share", "over_bm25")
"""The figures that are told of the build half too."""


class QuestionScore(NamedTuple):
    """The shares of a question's gold, 0 to 1, that the brief and the baselines quote; None where there is no gold."""

    gold: float | None
    bm25: float
    sentences: float
    lead: float
    says_nothing: bool
    is_empty: bool


async def measure_question(question: BriefQuestion, collection: str, searcher: LocalSearcher) -> QuestionScore:
    """Write the brief and the baselines of the same length, and score them."""
    answer, _ = await write_brief(question.text, collection, searcher)
    if not question.is_answerable:
        return QuestionScore(None, 0.0, 0.0, 0.0, answer.says_nothing, not answer.quotes)
    words = sum(count_words(quote.text) for quote in answer.quotes)
    scored = score_by_words(question.text, collection, searcher)
    bm25, sentences = quote_best_of_each(scored, words), quote_best(scored, words)
    lead = await quote_leads(question.text, collection, searcher, words)
    return QuestionScore(
        gold=question.share_quoted(answer.quotes),
        bm25=question.share_quoted(bm25),
        sentences=question.share_quoted(sentences),
        lead=question.share_quoted(lead),
        says_nothing=answer.says_nothing,
        is_empty=not answer.quotes,
    )


class Models(NamedTuple):
    """The models that the brief uses where they are here."""

    encoder: Encoder
    rater: AnswerRater


async def measure_set(questions: Sequence[BriefQuestion], own: Collection, home: Path, models: Models) -> list[QuestionScore]:
    """Measure all questions; each folder, and the set's own collection, is indexed in a home of its own."""
    scores = []
    ordered = sorted(questions, key=lambda question: str(question.docs))
    for docs, asked in groupby(ordered, key=lambda question: question.docs):
        collection = Collection(name="docs", kind=CorpusKind.FOLDER, path=str(docs)) if docs else own
        folder = home / (name_home(docs) if docs else own.name)
        folder.mkdir(parents=True, exist_ok=True)
        with open_local(folder, collection, encoder=lambda: models.encoder, rater=models.rater) as searcher:
            for question in asked:
                scores.append(await measure_question(question, collection.name, searcher))
                print(f"{scores[-1].gold} {scores[-1].bm25:.2f} {question.text[:80]}", flush=True)
    return scores


def name_home(docs: Path) -> str:
    """Name the home of a folder's index: folders of one name, and a folder that has changed, have homes of their own."""
    files = sorted((str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in docs.rglob("*") if path.is_file())
    return f"{docs.name}-{sha256(repr((str(docs.resolve()), files)).encode()).hexdigest()[:12]}"


def count_figures(scores: Sequence[QuestionScore]) -> dict[str, float]:
    """Count the figures of one set; those of questions with or without an answer are left out where it has none of them."""
    answerable = [score for score in scores if score.gold is not None]
    others = [score for score in scores if score.gold is None]
    figures = _count_answers(answerable) if answerable else {}
    return figures | ({"right_nothing": fmean(score.says_nothing for score in others)} if others else {})


def _count_answers(scores: Sequence[QuestionScore]) -> dict[str, float]:
    gold, bm25, sentences, lead = (
        fmean(shares) for shares in zip(*((s.gold or 0.0, s.bm25, s.sentences, s.lead) for s in scores), strict=True)
    )
    best = max(bm25, sentences)
    return {
        "gold_share": gold,
        "bm25_share": bm25,
        "sentences_share": sentences,
        "over_bm25": gold / best if best else 0.0,
        "over_lead": gold / lead if lead else 0.0,
        "false_nothing": fmean(score.says_nothing for score in scores),
        "empty": float(sum(score.is_empty for score in scores)),
    }


async def measure_half(half: str, options: argparse.Namespace, home: Path, models: Models) -> dict[str, float]:
    """Measure the sets of one half; return their figures, each with the set's name before it."""
    sets = {"corpus": load_labelled("corpus", half)}
    sets["documents"] = load_labelled("documents_en", half) + load_labelled("documents_zh", half)
    if DATA.is_dir():
        sets |= load_gathered(half, home / "gathered")
        sets["multihop"] = load_multihop_questions(half)
    figures: dict[str, float] = {}
    for name in options.sets or sets:
        own = MULTIHOP if name == "multihop" else SOTU
        measured = count_figures(await measure_set(sets[name], own, home, models))
        figures |= {f"{name}_{key}": value for key, value in measured.items()}
    return figures


async def main(options: argparse.Namespace, home: Path) -> None:
    """Measure the sets, and print the figures."""
    places = options.models_dir, home / "models"
    models = Models(open_encoder(EncoderBackend.ONNX, *places, threads=2), open_rater(*places, threads=2))
    if options.questions:
        questions = read_questions(options.questions, options.questions.parent)
        print_result("brief", count_figures(await measure_set(questions, SOTU, home, models)))
        return
    figures = await measure_half(options.half or "judge", options, home, models)
    if options.half is None:
        built = await measure_half("build", options, home, models)
        figures |= {f"build_{name}": value for name, value in built.items() if name.endswith(BUILT)}
    print_result("brief", figures)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--half", choices=HALVES, help="only this one; default: judge, and the main figures of build")
    parser.add_argument("--questions", type=Path, help="rows to measure instead of the sets")
    parser.add_argument(
        "--set",
        action="append",
        dest="sets",
        choices=("corpus", "documents", "articles", "articles_zh", "multihop"),
        help="only this set",
    )
    parser.add_argument("--home", type=Path, help="folder to use and keep; default: a temporary one")
    parser.add_argument("--models-dir", type=Path, help="folder with encoder weights; default: as the product finds them")
    arguments = parser.parse_args()
    if arguments.home is not None:
        asyncio.run(main(arguments, arguments.home))
    else:
        with tempfile.TemporaryDirectory() as folder:
            asyncio.run(main(arguments, Path(folder)))
