"""Measures one size of an index: written, optimized and searched by the engine itself, without a service or an encoder.

    python -m bench.index_growth --home DIR --points 100000

Points repeat real passages: each takes a passage's word weights unchanged and its vector jittered, so that neighbours stay
neighbours and no two are the same. Uses the encodings that `bench.retrieval` keeps in the home. Prints one
JSON line.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby, islice
from operator import itemgetter
from pathlib import Path
from subprocess import PIPE
from typing import NamedTuple

import numpy as np
import psutil

from bench.encodings import CachingEncoder
from bench.labelled_sets import load_wikipedia_passages, read_lines
from retrieval.building.build import index_text, split_batches
from retrieval.encoding.encoder import Encoder, EncoderBackend, Vectors, open_encoder
from retrieval.index.edge import EdgeIndex
from retrieval.index.ports import HybridQuery, IndexedPassage
from retrieval.index.sparse import SparseEncoder, SparseVector, average_lengths
from retrieval.search.library import CANDIDATES

JITTER = 0.02
"""Standard deviation in each of 384 dimensions: the jittered vector has a cosine of about 0.93 with the real one."""
REAL = 54_950
"""The number of real passages; further points repeat them."""
WRITE = 10_000
QUERIES = 139
NAME = "growth"


class PassageMaterial(NamedTuple):
    """Real passages: their word weights and their vectors."""

    sparse: Sequence[SparseVector]
    dense: Vectors


def load_material(encoder: CachingEncoder, count: int) -> PassageMaterial:
    """Encode the first `count` passages of Wikipedia."""
    records = list(islice(read_lines(load_wikipedia_passages().corpus), count))
    documents = [
        (own[0]["title"], [record["text"].strip() for record in own])
        for own in (list(group) for _, group in groupby(records, key=itemgetter("doc_id")))
    ]
    words = SparseEncoder(*average_lengths(documents[::50]))
    texts = (index_text(title, text) for title, passages in documents for text in passages)
    dense = np.concatenate([encoder.encode_passages(part) for part in split_batches(texts, 1_024)])
    return PassageMaterial([vector for document in documents for vector in words.weigh_passages(*document)], dense)


def make_queries(encoder: Encoder) -> list[HybridQuery]:
    """Encode real questions over the passages."""
    texts, words = list(load_wikipedia_passages().queries.values())[:QUERIES], SparseEncoder(1.0)
    return [HybridQuery(words.weigh_query(text), encoder.encode_query(text), CANDIDATES) for text in texts]


def make_points(material: PassageMaterial, count: int) -> Iterator[tuple[IndexedPassage, Vectors]]:
    """Yield `count` passages with their vectors."""
    random = np.random.default_rng(0)
    for number in range(count):
        of = number % len(material.sparse)
        vector = material.dense[of] + JITTER * random.standard_normal(material.dense.shape[1], np.float32)
        passage = IndexedPassage(number, material.sparse[of], f"d{number // 2}", 0, 100, "en")
        yield passage, vector / np.linalg.norm(vector)


def build_index(folder: Path, material: PassageMaterial, count: int) -> dict[str, float]:
    """Write and optimize; return the seconds of each."""
    index = EdgeIndex(folder)
    index.create(NAME)
    index.begin_dense(NAME, material.dense.shape[1])
    start = time.perf_counter()
    for part in split_batches(make_points(material, count), WRITE):
        index.upsert(NAME, [passage for passage, _ in part])
        index.set_dense(NAME, ((passage.id, vector.tolist()) for passage, vector in part))
        index.flush(NAME)
    written = time.perf_counter()
    index.optimize(NAME)
    index.close(NAME)  # the engine lets one process at a time open it
    return {"write_s": written - start, "optimize_s": time.perf_counter() - written}


def measure_searches(folder: Path, asked: Sequence[HybridQuery]) -> dict[str, float]:
    """Measure the latency of each half alone and of both, in milliseconds, and the memory that searching adds."""
    before = psutil.Process().memory_info().rss
    index = EdgeIndex(folder)
    nothing = SparseVector([], [])
    kinds = {
        "words": [replace(query, dense=None) for query in asked],
        "dense": [replace(query, sparse=nothing) for query in asked],
        "both": list(asked),
    }
    figures = {f"{kind}_{key}": value for kind, queries in kinds.items() for key, value in time_queries(index, queries).items()}
    return figures | {"search_rss_mb": (psutil.Process().memory_info().rss - before) / 1e6}


def time_queries(index: EdgeIndex, queries: Sequence[HybridQuery]) -> dict[str, float]:
    """Return the median and the 99th percentile in milliseconds, after one warm-up round."""
    took = []
    for query in [*queries, *queries]:
        start = time.perf_counter()
        index.query(NAME, query)
        took.append((time.perf_counter() - start) * 1_000)
    took = sorted(took[len(queries) :])
    return {"p50_ms": took[len(took) // 2], "p99_ms": took[len(took) * 99 // 100]}


def main() -> None:
    """Build here, and search in a fresh process, so that the memory measured is that of searching alone."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--models-dir", type=Path, default=os.environ.get("RUBRICA_MODELS_DIR"))
    parser.add_argument("--points", type=int, required=True)
    parser.add_argument("--search-only", action="store_true", help="search what is there")
    options = parser.parse_args()
    models_dir = Path(options.models_dir) if options.models_dir else None
    encoder = open_encoder(EncoderBackend.AUTO, models_dir, options.home / "models", threads=2)
    folder = options.home / f"growth-{options.points}"
    if options.search_only:
        print(json.dumps(measure_searches(folder, make_queries(encoder))))
        return
    material = load_material(CachingEncoder(encoder, options.home / "encodings.db"), min(options.points, REAL))
    try:
        figures = {"points": float(options.points)} | build_index(folder, material, options.points)
        done = subprocess.run([sys.executable, "-m", __spec__.name, *sys.argv[1:], "--search-only"], stdout=PIPE, check=True)
        figures |= json.loads(done.stdout)
        figures["disk_mb"] = sum(path.stat().st_blocks * 512 for path in folder.rglob("*") if path.is_file()) / 1e6
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(json.dumps({key: round(value, 3) for key, value in figures.items()}))


if __name__ == "__main__":
    main()
