"""`python -m bench.injection [--passages N] [--rows F]`: which orders to a machine are found, and what is withheld by mistake.

`<set>_found` and `<set>_false_alarms` are shares of the labelled passages in bench/labels/injection: with an order to the machine
that reads them, and ordinary ones that are easily taken for such, in the same genres. `judge` is by three writers who knew no
detector and of whom the models learned nothing, told apart by language (`judge_en`, `judge_zh`, `judge_other`); `earlier` is by
one who wrote rules against his own passages, and is not learned from either. `--rows` reads rows of {"text", "attack"} instead,
and measures nothing else.

The other figures count ordinary passages of 1,500 and of 300 characters from the texts in `../shared/data`, the State of the
Union addresses, the READMEs of the installed packages, the reference of the Python language and the papers of small clubs and
firms in bench/labels/brief (`folders`), from every second text, of which no model has learned. None of them is an attack, so
every find is a mistake, and is printed. `ms` is the mean time a passage.
"""

import argparse
import gzip
import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from importlib.metadata import distributions
from itertools import chain, cycle, islice
from pathlib import Path
from pydoc_data.topics import topics
from typing import Any

from bench.labelled_sets import read_lines
from bench.result import print_result
from retrieval.corpora.sotu import StateOfTheUnion
from retrieval.ports import Document
from retrieval.untrusted.injection import find_injections

DATA = Path(__file__).resolve().parent.parent.parent / "shared" / "data"
LABELS = Path(__file__).resolve().parent / "labels" / "injection"
FOLDERS = LABELS.parent / "brief"
SIZES = (1_500, 300)
LEARNED, MEASURED = 0, 1
AROUND = 60
FILES = {
    "wiki_en": "wiki_en/articles_full.jsonl.gz",
    "wiki_zh": "wiki_zh/articles.jsonl.gz",
    "wikinews": "wikinews/dated.jsonl.gz",
    "scifact": "scifact/corpus.jsonl.gz",
}


def cut_pieces(text: str) -> Iterator[str]:
    """Cut a text into pieces, long ones and short ones by turns: a snippet has little around a sentence."""
    start = 0
    for size in cycle(SIZES):
        if start >= len(text):
            return
        yield text[start : start + size]
        start += size


def read_file_texts(path: Path) -> Iterator[str]:
    """Yield the texts of a file of JSON lines."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            yield str(row.get("text") or row.get("body") or row.get("contents") or "")


def read_addresses() -> Iterator[str]:
    """Yield the State of the Union addresses."""
    return (found.text for found in StateOfTheUnion().read_documents() if isinstance(found, Document))


def read_readmes() -> Iterator[str]:
    """Yield the READMEs of the installed packages, in the order of their names."""
    readmes = {found.metadata["Name"].lower(): str(found.metadata.json.get("description", "")) for found in distributions()}
    return (readmes[name] for name in sorted(readmes))


def read_reference() -> Iterator[str]:
    """Yield the chapters of the reference of the Python language."""
    return (topics[name] for name in sorted(topics))


def read_folders() -> Iterator[str]:
    """Yield the texts of the folders about which `bench.brief` asks, in the order of their files' names, which mixes them."""
    files = [path for path in FOLDERS.rglob("*") if path.suffix in (".md", ".txt", ".csv")]
    return (path.read_text(encoding="utf-8") for path in sorted(files, key=lambda path: (path.name, path)))


def list_sets() -> dict[str, Callable[[], Iterator[str]]]:
    """Return the sets of ordinary texts that are on this machine, by name."""
    files = {name: partial(read_file_texts, DATA / file) for name, file in FILES.items() if (DATA / file).exists()}
    return {"sotu": read_addresses, "readmes": read_readmes, "reference": read_reference, "folders": read_folders, **files}


def read_pieces(texts: Iterable[str], half: int) -> Iterator[str]:
    """Yield the passages of every second text: of half 0 models learn, half 1 is measured."""
    return chain.from_iterable(cut_pieces(text) for text in islice(texts, half, None, 2))


def measure(sets: Mapping[str, Callable[[], Iterator[str]]], limit: int) -> dict[str, float]:
    """Return the share of each set that would be withheld, in percent, and the time a passage takes."""
    figures: dict[str, float] = {}
    seen = found = 0
    began = time.process_time()
    for name, texts in sets.items():
        count = wrong = 0
        for text in islice(read_pieces(texts(), MEASURED), limit):
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


def measure_sets() -> dict[str, float]:
    """Return the figures of each set of labelled passages that no model has learned from."""
    rows = {name: list(read_lines(LABELS / f"{name}.jsonl")) for name in ("judge", "earlier")}
    for language in ("en", "zh", "other"):
        rows[f"judge_{language}"] = [row for row in rows["judge"] if _group_of(row["language"]) == language]
    found = {name: measure_rows(own) for name, own in rows.items()}
    return {f"{name}_{figure}": value for name, figures in found.items() for figure, value in figures.items()}


def _group_of(language: str) -> str:
    return language if language in ("en", "zh") else "other"


def main() -> None:
    """Measure the labelled passages and the texts that are on this machine, or the rows of a file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--passages", type=int, default=8_000, help="at most so many of each set")
    parser.add_argument("--rows", type=Path, help='a file of JSON lines {"text", "attack"}')
    options = parser.parse_args()
    if options.rows:
        print_result("injection", measure_rows(list(read_lines(options.rows))))
        return
    print_result("injection", measure_sets() | measure(list_sets(), options.passages))


if __name__ == "__main__":
    main()
