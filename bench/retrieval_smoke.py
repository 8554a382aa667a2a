"""Search quality and speed on labelled sets: `python -m bench.retrieval_smoke --home DIR [--set scifact] [--set multihop]`.

nDCG@10 at document level of the word half, the meaning half, their fusion as shipped, and reciprocal-rank fusion for comparison;
then the search as the product answers it, with its latency. `--home` keeps the indexes for the next time.
"""

import argparse
import json
import math
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from urllib.parse import unquote

from bench.result import report, skipped
from retrieval.catalogue import Collection, CorpusKind
from retrieval.encoder import Encoder, EncoderBackend, open_encoder
from retrieval.fusion import Key, fuse
from retrieval.index.ports import Candidates, Hit, HybridQuery
from retrieval.library import CANDIDATES
from retrieval.local import LocalSearcher, open_local
from retrieval.ports import SearchFilter
from retrieval.sparse import SparseEncoder

DATA = Path(__file__).resolve().parent.parent.parent / "shared" / "data"
RRF_K = 60
DEPTH = 10
Labels = Mapping[str, Mapping[str, int]]


def load_queries(folder: Path) -> tuple[dict[str, str], Labels]:
    """The test queries that have labels, and the labels: query -> document -> grade."""
    labels: dict[str, dict[str, int]] = {}
    for line in (folder / "qrels" / "test.tsv").read_text().splitlines():
        query, document, grade = line.split("\t")
        if grade.isdigit() and int(grade) > 0:
            labels.setdefault(query, {})[document] = int(grade)
    records = map(json.loads, (folder / "queries.jsonl").read_text().splitlines())
    return {record["_id"]: record["text"] for record in records if record["_id"] in labels}, labels


def ndcg(ranking: Sequence[str], grades: Mapping[str, int]) -> float:
    """Normalised discounted cumulative gain of the first ten documents."""
    gain = sum(grades.get(document, 0) / math.log2(place + 2) for place, document in enumerate(ranking[:DEPTH]))
    ideal = sum(grade / math.log2(place + 2) for place, grade in enumerate(sorted(grades.values(), reverse=True)[:DEPTH]))
    return gain / ideal


def reciprocal_ranks(halves: Iterable[Sequence[Hit]]) -> list[tuple[Key, float]]:
    """Reciprocal-rank fusion, for comparison with `fuse`."""
    scores: dict[Key, float] = {}
    for half in halves:
        for place, hit in enumerate(half, 1):
            scores["", hit.id] = scores.get(("", hit.id), 0.0) + 1 / (RRF_K + place)
    return sorted(scores.items(), key=lambda item: -item[1])


RANKINGS: dict[str, Callable[[Candidates], list[tuple[Key, float]]]] = {
    "sparse": lambda found: fuse(_scores(found.sparse), None),
    "dense": lambda found: fuse(_scores(found.dense), None),
    "fused": lambda found: fuse(_scores(found.sparse), _scores(found.dense)),
    "rrf": reciprocal_ranks,
}


def _scores(hits: Iterable[Hit]) -> dict[Key, float]:
    return {("", hit.id): hit.score for hit in hits}


def _identity(url: str) -> str:
    """A record's `_id` from the address its reader gave it."""
    return unquote(re.split("[:/]", url)[-1])


def measure(local: LocalSearcher, name: str, folder: Path, encoder: Encoder) -> dict[str, float]:
    """Figures of one set."""
    queries, labels = load_queries(folder)
    totals = dict.fromkeys([*RANKINGS, "search"], 0.0)
    took: list[float] = []
    for query, text in queries.items():
        for ranking, documents in _halves(local, name, text, encoder):
            totals[ranking] += ndcg(documents, labels[query])
        start = time.perf_counter()
        passages = local.library.search(text, 2 * DEPTH, SearchFilter(collections=(name,)))
        took.append((time.perf_counter() - start) * 1_000)
        found = dict.fromkeys(_identity(passage.source.url) for passage in passages)
        totals["search"] += ndcg(list(found), labels[query])
    figures = {f"{name}_ndcg10_{ranking}": total / len(queries) for ranking, total in totals.items()}
    took.sort()
    return figures | {f"{name}_p50_ms": took[len(took) // 2], f"{name}_p99_ms": took[len(took) * 99 // 100]}


def _halves(local: LocalSearcher, name: str, text: str, encoder: Encoder) -> Iterable[tuple[str, list[str]]]:
    generation = local.library.generation(name)
    assert generation is not None
    asked = HybridQuery(SparseEncoder(1.0).query(text), encoder.query(text), CANDIDATES)
    found = local.shelves.index.query(generation.name, asked)
    places = local.shelves.index.places(generation.name, list({hit.id for half in found for hit in half}))
    urls = {}
    for number, place in places.items():
        source = local.shelves.store.source(name, place.document)
        urls[number] = source.url if source else ""
    for ranking, rank in RANKINGS.items():
        yield ranking, list(dict.fromkeys(_identity(urls[number]) for (_, number), _ in rank(found)))


def main() -> None:
    """Build what is missing, measure, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--models-dir", type=Path)
    parser.add_argument("--set", action="append", dest="sets", choices=["scifact", "multihop"])
    options = parser.parse_args()
    if not DATA.is_dir():
        skipped("retrieval_smoke", "the labelled sets are not on this machine")
        return
    encoder = open_encoder(EncoderBackend.ONNX, options.models_dir, options.home / "models", threads=2)
    names = options.sets or ["scifact", "multihop"]
    collections = [Collection(name=name, kind=CorpusKind.BEIR, path=str(DATA / name)) for name in names]
    figures: dict[str, float] = {}
    start = time.perf_counter()
    with open_local(options.home, *collections, encoder=lambda: encoder) as local:
        print(f"opened or built in {time.perf_counter() - start:.1f} s", flush=True)
        for name in names:
            figures |= measure(local, name, DATA / name, encoder)
    for key, value in figures.items():
        print(f"{key:28} {value:.4f}")
    report("retrieval_smoke", figures)


if __name__ == "__main__":
    main()
