"""`python -m bench.claim_judge_pairs OUT`: write the pairs from which a judge of claims learned.

They are generated from the half of the documents to build on, and written by people over these, without any document that people
labelled for `bench.citations`.
"""

import argparse
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from app.domain.query import Language
from bench.citation_labels import SHIPPED_LABELS, load_labels
from bench.false_support import MOST_DOCUMENTS, read_texts
from bench.labelled_sets import DATA, read_lines
from bench.written_claims import read_written_claims
from retrieval.language.sentences import list_sentences
from training.synthesis.claim_support.learning_pairs import make_headline_pairs, make_learning_pairs
from training.synthesis.claim_support.pairs import BUILD, SourceText, half_of, language_of, write_pairs

HEADLINED = {"scifact/corpus.jsonl.gz": "_id", "wikinews/dated.jsonl.gz": "id"}
"""Corpora whose titles are statements that their documents support."""
EACH = 350
SEED = 7


def main() -> None:
    """Write the pairs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--each", type=int, default=EACH, help="the most generated pairs of a kind")
    options = parser.parse_args()
    labelled = {row.evidence.title.casefold() for row in load_labels(SHIPPED_LABELS)}
    texts = [text for text in read_texts(BUILD) if text.language is Language.ENGLISH and text.title.casefold() not in labelled]
    headlined = [document for document in _read_headlined() if document.title.casefold() not in labelled]
    written = [pair for own in read_written_claims(BUILD).values() for pair in own if pair.title.casefold() not in labelled]
    pairs = [*written, *make_learning_pairs(texts, options.each, SEED), *make_headline_pairs(headlined, SEED)]
    write_pairs(pairs, options.out)
    print(f"{len(pairs)} pairs, {sum(pair.right for pair in pairs)} of them honest")


def _read_headlined() -> Iterator[SourceText]:
    for corpus, identity in HEADLINED.items():
        for record in islice(read_lines(DATA / corpus), MOST_DOCUMENTS):
            document = f"{corpus} {record[identity]}"
            if half_of(document) == BUILD:
                sentences = tuple(list_sentences(record["text"]))
                yield SourceText(str(record.get("title", "")), sentences, document, language_of(record["text"][:400]))


if __name__ == "__main__":
    main()
