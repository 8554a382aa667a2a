"""`python -m bench.index [--articles 250] [--models-dir DIR]`: measure how fast a collection is built.

The passages of whole Wikipedia articles are built into a new collection as the product does it: read, cut, store, weigh words,
index, switch, encode, index, switch. On the same cores in the same run they are also only encoded, half of them before the build
and half after it, so that a machine that gets busier or quieter affects both sides. `ratio` is the rate of the build over that
of the encoder.
"""

import argparse
import gzip
import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import islice, pairwise
from pathlib import Path

from bench.result import print_result, print_skipped
from retrieval.building.build import index_text
from retrieval.building.builder import run_build
from retrieval.building.chunking import split_passages
from retrieval.corpora.kinds import open_corpus
from retrieval.encoding.encoder import Encoder, EncoderBackend, open_encoder
from retrieval.ports import Document
from retrieval.store.catalogue import Build, BuildPhase, Collection, CorpusKind
from retrieval.store.home import open_retrieval_home

ARTICLES = Path(__file__).resolve().parent.parent.parent / "shared" / "data" / "wiki_en" / "articles_full.jsonl.gz"
WARM_UP = 32


class Stopwatch:
    """Notes when each phase of a build began."""

    def __init__(self) -> None:
        self.began: dict[str, float] = {"begin": time.perf_counter()}
        self.last: Build | None = None

    def __call__(self, build: Build) -> None:
        """Note a step of the build."""
        self.began.setdefault(build.phase, time.perf_counter())
        self.last = build

    def measure_phases(self) -> dict[str, float]:
        """Return how long each phase took, in seconds."""
        marks = [*self.began.items()]
        return {f"{name}_s": later - since for (name, since), (_, later) in pairwise(marks) if name != "begin"}


def list_passages(corpus: Collection) -> Iterator[str]:
    """Yield the texts that a build of this corpus encodes."""
    for item in open_corpus(corpus).read_documents():
        if isinstance(item, Document):
            yield from (index_text(item.source.title, item.text[start:end]) for start, end in split_passages(item.text))


def time_encoding(encoder: Encoder, texts: Sequence[str]) -> float:
    """Return the seconds that the encoder takes by itself."""
    start = time.perf_counter()
    encoder.encode_passages(texts)
    return time.perf_counter() - start


def measure(folder: Path, articles: int, encoder: Encoder) -> dict[str, float]:
    """Build and encode `articles` articles; return the figures."""
    corpus = Collection(name="wiki", kind=CorpusKind.RECORDS, path=str(folder / "articles.jsonl"))
    with gzip.open(ARTICLES, "rb") as packed:
        Path(corpus.path).write_bytes(b"".join(islice(packed, articles)))
    texts = list(list_passages(corpus))
    load = os.getloadavg()[0]
    encoder.encode_passages(texts[:WARM_UP])
    alone = time_encoding(encoder, texts[::2])
    shelves = open_retrieval_home(folder / "home")
    shelves.catalogue.add(corpus, datetime.now(UTC))
    watch = Stopwatch()
    done = run_build(shelves, corpus.name, True, lambda: encoder, watch)
    whole = time.perf_counter() - watch.began["begin"]
    shelves.close()
    alone += time_encoding(encoder, texts[1::2])
    if (done.phase, done.total) != (BuildPhase.DONE, len(texts)):
        raise SystemExit(f"the build ended as {done.phase} with {done.total} of {len(texts)} passages: {done.detail}")
    rates = {"build_per_s": len(texts) / whole, "encoder_per_s": len(texts) / alone, "ratio": alone / whole}
    return {"passages": float(len(texts)), **rates, **watch.measure_phases(), "load_before": load}


def main() -> None:
    """Measure and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--articles", type=int, default=250)
    parser.add_argument("--models-dir", type=Path)
    options = parser.parse_args()
    if not ARTICLES.is_file():
        print_skipped("index", "the Wikipedia articles are not on this machine")
        return
    threads = min(2, os.cpu_count() or 1)
    with tempfile.TemporaryDirectory(prefix="rubrica-bench-index-") as folder:
        encoder = open_encoder(EncoderBackend.ONNX, options.models_dir, Path(folder) / "models", threads)
        figures = measure(Path(folder), options.articles, encoder)
    for key, value in figures.items():
        print(f"{key:16} {value:.3f}")
    print_result("index", figures)


if __name__ == "__main__":
    main()
