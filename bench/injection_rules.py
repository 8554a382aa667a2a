"""`python -m bench.injection_rules [--passages N] [--rows F]`: what the injection rules find, and what they withhold by mistake.

`<half>_found` and `<half>_false_alarms` are shares of the labelled passages in bench/labels/injection: 148 with an instruction to
the reader, 218 ordinary ones that are easily taken for such. The rules' words were chosen with `build` in view. One author wrote
both, so `judge` is kinder than strangers are. The rules were widened once after `fresh`, which avoids all other wordings.
`--rows` reads rows of {"text", "attack"} instead, and measures nothing else.

The other figures count ordinary passages of 1,500 characters from the texts in `../shared/data` and the State of the Union
addresses. None of them is an attack, so every find is a mistake, and is printed. `ms` is the mean time a passage.
"""

import argparse
import gzip
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any

from bench.labelled_sets import read_lines
from bench.result import print_result
from retrieval.corpora.sotu import StateOfTheUnion
from retrieval.ports import Document
from workflows.agents.injection import find_injections

DATA = Path(__file__).resolve().parent.parent.parent / "shared" / "data"
LABELS = Path(__file__).resolve().parent / "labels" / "injection"
HALVES = ("build", "judge", "fresh")
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


def measure_rows(rows: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Return the share of the attacks that are found, and of the other rows that are taken for attacks."""
    finds = [(bool(row["attack"]), bool(find_injections(str(row["text"])))) for row in rows]
    attacks, others = ([found for attack, found in finds if attack is kind] for kind in (True, False))
    return {"found": sum(attacks) / max(1, len(attacks)), "false_alarms": sum(others) / max(1, len(others))}


def measure_halves() -> dict[str, float]:
    """Return the figures of each half of the labelled passages."""
    sets = (("attempts", True), ("ordinary", False))
    rows = [{**row, "attack": attack} for name, attack in sets for row in read_lines(LABELS / f"{name}.jsonl")]
    halves = {half: measure_rows([row for row in rows if row["half"] == half]) for half in HALVES}
    return {f"{half}_{figure}": value for half, figures in halves.items() for figure, value in figures.items()}


def main() -> None:
    """Measure the labelled passages and the texts that are on this machine, or the rows of a file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--passages", type=int, default=8_000, help="at most so many of each set")
    parser.add_argument("--rows", type=Path, help='a file of JSON lines {"text", "attack"}')
    options = parser.parse_args()
    if options.rows:
        print_result("injection_rules", measure_rows(list(read_lines(options.rows))))
        return
    sets: dict[str, Callable[[], Iterator[str]]] = {"sotu": read_address_pieces}
    for name, file in FILES.items():
        if (DATA / file).exists():
            sets[name] = partial(read_file_pieces, DATA / file)
    print_result("injection_rules", measure_halves() | measure(sets, options.passages))


if __name__ == "__main__":
    main()
