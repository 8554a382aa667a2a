"""`python -m bench.retrieval`: measure how well the search finds labelled documents: nDCG@10, and recall@10 in Chinese.

Every query goes to the product's own search, with the configuration it ships. `--tuning` measures on the queries on which that
configuration was chosen: SciFact's train queries and one half of the multi-hop questions. `--queries F --qrels F --corpus F`
measures any set in BEIR's files. Encodings are kept in the home by their content: a second run does not encode again.
"""

import argparse
import os
import time
from pathlib import Path

from bench.encodings import CachingEncoder
from bench.labelled_sets import (
    DATA,
    LabelledSet,
    document_id_of,
    load_beir,
    load_chinese,
    load_frames,
    load_multihop,
    load_scifact,
    take_half,
)
from bench.result import print_result, print_skipped
from retrieval.encoding.encoder import EncoderBackend, open_encoder
from retrieval.ports import SearchFilter
from retrieval.search.in_process import open_local
from retrieval.search.library import Library
from training.evaluation.retrieval_metrics import ndcg, recall

HOME = Path(".rubrica") / "bench-retrieval"
PASSAGES = 40
"""Passages asked for, so that ten documents are among them."""
ENCODER_THREADS = 2


MEASURES = {"ndcg10": ndcg, "recall10": recall}


def measure_set(library: Library, wanted: LabelledSet) -> dict[str, float]:
    """Return both measures over the set's queries, and the median time of a search in milliseconds."""
    totals = dict.fromkeys(MEASURES, 0.0)
    took: list[float] = []
    where = SearchFilter(collections=(wanted.name,))
    for query, text in wanted.queries.items():
        start = time.perf_counter()
        found = library.search(text, PASSAGES, where)
        took.append((time.perf_counter() - start) * 1_000)
        ranking = list(dict.fromkeys(document_id_of(passage.source.url) for passage in found))
        for name, measure in MEASURES.items():
            totals[name] += measure(ranking, wanted.labels[query])
    return {name: total / len(took) for name, total in totals.items()} | {"p50_ms": sorted(took)[len(took) // 2]}


def load_sets(options: argparse.Namespace) -> dict[str, LabelledSet]:
    """Read the sets to measure, by the prefix of their figures' names."""
    if options.queries:
        return {"own": load_beir("own", options.queries, options.qrels, options.corpus)}
    if options.tuning:
        return {"scifact_train": load_scifact("train"), "multihop_half": take_half(load_multihop(), 0)}
    makers = {"scifact": load_scifact, "multihop": load_multihop, "frames": load_frames, "zh": load_chinese}
    return {name: make() for name, make in makers.items() if not options.sets or name in options.sets}


def main(options: argparse.Namespace) -> None:
    """Build the missing collections, measure, and print the figures."""
    if not options.queries and not DATA.is_dir():
        print_skipped("retrieval", "the labelled sets are not at ../shared/data")
        return
    plain = open_encoder(EncoderBackend.AUTO, options.models_dir, options.home / "models", ENCODER_THREADS)
    encoder = CachingEncoder(plain, options.home / "encodings.db")
    figures: dict[str, float] = {}
    for name, wanted in load_sets(options).items():
        with open_local(options.home, wanted.write_collection(options.home / "corpora"), encoder=lambda: encoder) as local:
            found = measure_set(local.library, wanted)
        print(
            f"{name}: {len(wanted.queries)} queries, {', '.join(f'{key} {value:.4f}' for key, value in found.items())}",
            flush=True,
        )
        figures |= {f"{name}_{key}": value for key, value in found.items()}
    print_result("retrieval", figures)


def read_arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", type=Path, default=HOME, help="where indexes and encodings are kept")
    parser.add_argument("--models-dir", type=Path, default=os.environ.get("RUBRICA_MODELS_DIR"))
    parser.add_argument("--set", action="append", dest="sets", choices=["scifact", "multihop", "frames", "zh"])
    parser.add_argument("--tuning", action="store_true", help="measure on the queries that the configuration was chosen on")
    for name in ("queries", "qrels", "corpus"):
        parser.add_argument(f"--{name}", type=Path, help=f"BEIR's file of {name}, plain or gzipped; give all three")
    options = parser.parse_args()
    if len({options.queries is None, options.qrels is None, options.corpus is None}) > 1:
        parser.error("--queries, --qrels and --corpus belong together")
    options.models_dir = Path(options.models_dir) if options.models_dir else None
    return options


if __name__ == "__main__":
    main(read_arguments())
