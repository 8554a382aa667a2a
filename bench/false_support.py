"""`python -m bench.false_support`: how many falsehoods a judge of claims calls fully supported, and how many honest paraphrases.

Falsehoods and paraphrases are generated from the corpora at hand, which are divided by document into a half to build on and a
half to judge by; the figures are those of the second. `hand_*` are over pairs written by hand, their second half; `written_*`
over claims of real passages by writers who had seen no rule, most honest ones wholly in words of their own; `balanced_*` over
such claims of which half are close to the passage and half in other words, honest and false alike. `--pairs F` measures
rows {"title", "evidence", "claim", "kind", "right"} instead. `--write F` writes the generated pairs of the first half. `told_*`
is with a language model as judge that answers what the generator knows.
"""

import argparse
import asyncio
import hashlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from bench.claim_pairs.generate import generate_pairs, read_source
from bench.claim_pairs.pairs import BUILD, JUDGE, ClaimPair, SourceText, half_of, read_pairs, write_pairs
from bench.labelled_sets import DATA, read_lines
from bench.result import print_result, print_skipped
from bench.told_judge import judge_by_truth
from bench.verdict_counts import judge_pairs, measure_verdicts, print_verdicts
from bench.written_claims import read_written_claims

CORPORA = {
    "wiki_en/passages.jsonl.gz": "doc_id",
    "wiki_zh/articles.jsonl.gz": "id",
    "scifact/corpus.jsonl.gz": "_id",
    "multihop/corpus.jsonl.gz": "_id",
    "wikinews/dated.jsonl.gz": "id",
}
LABELS = Path(__file__).parent / "labels" / "false_support"
MOST_DOCUMENTS = 4_000
PIECES_A_DOCUMENT = 6
EACH = 40
MAIN_FIGURES = ("falsehoods_called_full", "honest_called_full", "falsely_warned", "full_precision")


def main() -> None:
    """Measure and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=Path, help="rows of claims and evidence to measure instead")
    parser.add_argument("--write", type=Path, help="write the generated pairs of the first half, and measure nothing")
    parser.add_argument("--each", type=int, default=EACH, help="the most pairs of a kind, in each language")
    options = parser.parse_args()
    if options.pairs:
        return print_result("false_support", _measure("given", list(read_pairs(options.pairs))))
    texts = {half: list(read_texts(half)) for half in (BUILD, JUDGE)}
    if not texts[JUDGE]:
        return print_skipped("false_support", f"there are no texts in {DATA}")
    if options.write:
        return write_pairs(generate_pairs(texts[BUILD], options.each), options.write)
    return print_result("false_support", _measure_halves(texts, options.each))


def _measure_halves(texts: dict[str, list[SourceText]], each: int) -> dict[str, float]:
    built = _measure("generated, first half", generate_pairs(texts[BUILD], each))
    unseen = generate_pairs(texts[JUDGE], each)
    figures = _measure("generated, second half", unseen)
    told = measure_verdicts(asyncio.run(judge_by_truth(unseen)))
    _measure("by hand, first half", list(read_pairs(LABELS / f"{BUILD}.jsonl")))
    by_hand = _measure("by hand, second half", list(read_pairs(LABELS / f"{JUDGE}.jsonl")))
    written = [pair for pairs in read_written_claims(JUDGE).values() for pair in pairs]
    by_writers = _measure("by writers who saw no rule, second half", written)
    balanced = [pair for pairs in read_written_claims(f"balanced_{JUDGE}").values() for pair in pairs]
    in_parts = _measure("close and in own words in equal parts, second half", balanced)
    figures |= {f"build_{name}": built[name] for name in MAIN_FIGURES}
    figures |= {f"hand_{name}": by_hand[name] for name in MAIN_FIGURES}
    figures |= {f"written_{name}": by_writers[name] for name in MAIN_FIGURES}
    figures |= {f"balanced_{name}": in_parts[name] for name in (*MAIN_FIGURES, "partial_precision", "unjudged")}
    return figures | {"told_falsehoods_called_full": told["falsehoods_called_full"]}


def _measure(what: str, pairs: Sequence[ClaimPair]) -> dict[str, float]:
    judged = asyncio.run(judge_pairs(pairs))
    print_verdicts(what, judged)
    return measure_verdicts(judged)


def read_texts(half: str) -> Iterator[SourceText]:
    """Yield the pieces of documents of one half, the corpora mixed, in an order that a hash gives."""
    pieces = [piece for corpus, identity in CORPORA.items() for piece in _read_corpus(corpus, identity, half)]
    yield from sorted(pieces, key=lambda piece: hashlib.sha256(f"{piece.document} {piece.sentences[0]}".encode()).digest())


def _read_corpus(corpus: str, identity: str, half: str) -> Iterable[SourceText]:
    if not (DATA / corpus).exists():
        return
    for record in islice(read_lines(DATA / corpus), MOST_DOCUMENTS):
        document = f"{corpus} {record[identity]}"
        if half_of(document) == half:
            yield from islice(read_source(str(record.get("title", "")), record["text"], document), PIECES_A_DOCUMENT)


if __name__ == "__main__":
    main()
