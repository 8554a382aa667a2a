"""`python -m bench.injection_rules [--passages N]`: count the ordinary passages that the injection rules would withhold.

Passages of 1,500 characters from the texts in `../shared/data` and the State of the Union addresses. None of them is an attack,
so every find is a mistake, and is printed. `ms` is the mean time a passage.
"""

import argparse
import gzip
import json
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import chain, islice
from pathlib import Path

from bench.result import print_result, print_skipped
from retrieval.corpora.sotu import StateOfTheUnion
from retrieval.ports import Document
from workflows.agents.injection import find_injections

DATA = Path(__file__).resolve().parent.parent.parent / "shared" / "data"
SIZE = 1_500
AROUND = 60
FILES = {
    "wiki_en": "wiki_en/articles_full.jsonl.gz",
    "wiki_zh": "wiki_zh/articles.jsonl.gz",
    "wikinews": "wikinews/dated.jsonl.gz",
    "scifact": "scifact/corpus.jsonl.gz",
}


def cut_evenly(text: str) -> Iterator[str]:
    """Cut a text into pieces."""
    return (text[i : i + SIZE] for i in range(0, len(text), SIZE))


def read_file_pieces(path: Path) -> Iterator[str]:
    """Yield the passages of a file of JSON lines."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            yield from cut_evenly(str(row.get("text") or row.get("body") or row.get("contents") or ""))


def read_address_pieces() -> Iterator[str]:
    """Yield the passages of the State of the Union addresses."""
    documents = (found for found in StateOfTheUnion().read_documents() if isinstance(found, Document))
    return chain.from_iterable(cut_evenly(document.text) for document in documents)


def measure(sets: Mapping[str, Callable[[], Iterator[str]]], limit: int) -> dict[str, float]:
    """Return the share of each set that would be withheld, in percent, and the time a passage takes."""
    figures: dict[str, float] = {}
    seen = found = 0
    began = time.process_time()
    for name, texts in sets.items():
        count = wrong = 0
        for text in islice(texts(), limit):
            count += 1
            if hits := find_injections(text):
                wrong += 1
                print(f"{name}: {hits[0].rule}: {text[max(0, hits[0].start - AROUND) : hits[0].end + AROUND]!r}")
        figures |= {f"{name}_passages": count, f"{name}_percent": 100 * wrong / max(1, count)}
        seen, found = seen + count, found + wrong
    spent = 1_000 * (time.process_time() - began)
    return {**figures, "passages": seen, "percent": 100 * found / max(1, seen), "ms": spent / max(1, seen)}


def main() -> None:
    """Measure the sets that are on this machine."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--passages", type=int, default=8_000, help="at most so many of each set")
    limit = parser.parse_args().passages
    sets: dict[str, Callable[[], Iterator[str]]] = {"sotu": read_address_pieces}
    for name, file in FILES.items():
        if (DATA / file).exists():
            sets[name] = partial(read_file_pieces, DATA / file)
    if len(sets) == 1:
        print_skipped("injection_rules", f"there are no texts in {DATA}")
        return
    print_result("injection_rules", measure(sets, limit))


if __name__ == "__main__":
    main()
