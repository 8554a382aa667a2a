"""The process that builds one collection: `python -m retrieval.building.builder --home DIR --collection NAME`.

It is a separate process because the engine holds the interpreter's lock while it writes, and because encoding runs at low
priority. It prints one JSON line (a `Build`) for each step. It ends when its standard input closes, that is, with its parent.
"""

import argparse
import fcntl
import os
import sqlite3
import stat
import sys
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from app.domain.errors import Conflict, RubricaError, SetupError
from app.settings import read_settings
from retrieval.building.build import BuildTools, PassageEncoder, begin_build
from retrieval.building.indexing import index_words
from retrieval.building.reading import read_corpus
from retrieval.building.screening import screen_documents
from retrieval.building.vectors import encode_passages, leave_to_words
from retrieval.corpora.kinds import open_corpus
from retrieval.encoding.encoder import EncoderBackend, open_encoder
from retrieval.encoding.engines import engines_of
from retrieval.store.catalogue import Build, BuildPhase
from retrieval.store.home import RetrievalHome, open_retrieval_home

NICENESS = 15
"""Encoding runs in the background: searches and reports come first."""
THREADS = min(2, os.cpu_count() or 1)


def run_build(
    shelves: RetrievalHome,
    collection: str,
    fresh: bool,
    encoder: Callable[[], PassageEncoder | None],
    report: Callable[[Build], None],
) -> Build:
    """Begin or continue a collection's build, and finish it. A failure is a value: phase `failed` with the reason.

    `encoder` is called once the word index is in use, or earlier where the collection already has dense vectors. If it returns
    None, the collection is searchable by words only.
    """
    encoder_once = _EncoderOnFirstUse(encoder)
    shop = BuildTools(shelves.catalogue, shelves.store, shelves.index, lambda: datetime.now(UTC), report)
    last = shelves.catalogue.find_build(collection)
    build = last if last and not fresh else begin_build(shelves.catalogue, collection, shop.clock())
    try:
        if build.phase is BuildPhase.FAILED:
            build = shop.note(build, phase=BuildPhase.READING, detail="", corpus_state="")
        if build.phase is BuildPhase.READING:
            build = read_corpus(shop, build, open_corpus(shelves.catalogue.get(collection)))
        if build.phase is BuildPhase.INDEXING:
            build = index_words(shop, build, encoder_once)
        found = encoder_once()
        if found is None:
            return leave_to_words(shop, build, f"searched by words only{encoder_once.reason}")
        return encode_passages(shop, build, found)
    except (RubricaError, OSError) as error:
        return shop.note(build, phase=BuildPhase.FAILED, detail=str(error))
    except sqlite3.Error as error:  # if this cannot be stored either, the process ends, and its owner stores that
        return shop.note(build, phase=BuildPhase.FAILED, detail=f"the store of documents cannot be used: {error}")


class _EncoderOnFirstUse:
    """An encoder that the first call opens. Calls return None, and `reason` says why, where it cannot be opened."""

    def __init__(self, opening: Callable[[], PassageEncoder | None]) -> None:
        self._opening = opening
        self._opened = False
        self._encoder: PassageEncoder | None = None
        self.reason = ""

    def __call__(self) -> PassageEncoder | None:
        if not self._opened:
            self._opened = True
            try:
                self._encoder = self._opening()
            except SetupError as error:
                self.reason = f": {error}"
        return self._encoder


def _die_with_parent() -> None:
    """End the process at once when the owner is gone: an orphan would write beside the next owner's builder."""
    kind = os.fstat(0).st_mode
    if not (stat.S_ISFIFO(kind) or stat.S_ISSOCK(kind)):
        return  # started by hand
    while os.read(0, 1):  # not through sys.stdin, whose lock would be held at exit
        pass
    os._exit(0)


def _lock_build(home: Path, collection: str) -> int:
    handle = os.open(home / "retrieval" / f"{collection}.build.lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise Conflict(f"another process is building {collection!r} in this home") from error
    return handle


def _is_built(shelves: RetrievalHome, collection: str) -> bool:
    """Say whether the index has all its vectors, so that only the screening is left to do."""
    build, name = shelves.catalogue.find_build(collection), shelves.index.resolve(collection)
    generation = shelves.catalogue.find_generation(name) if name else None
    return build is not None and build.phase is BuildPhase.DONE and generation is not None and generation.dense


def _print_step(build: Build) -> None:
    sys.stdout.write(build.model_dump_json() + "\n")
    sys.stdout.flush()


def main() -> int:
    """Build the collection. Return 0 when it is ready, 3 when the build failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--collection", required=True)
    parser.add_argument("--models-dir", type=Path)
    parser.add_argument("--qdrant-url")
    parser.add_argument("--encoder", type=EncoderBackend, default=EncoderBackend.AUTO)
    options = parser.parse_args()
    threading.Thread(target=_die_with_parent, daemon=True).start()
    engines = engines_of(read_settings(os.environ))
    shelves = open_retrieval_home(options.home, options.qdrant_url, engines.qdrant_grpc_port, engines.qdrant_prefix)
    _lock_build(options.home, options.collection)

    def encoder() -> PassageEncoder:
        os.nice(NICENESS)
        return open_encoder(options.encoder, options.models_dir, options.home / "models", THREADS, engines.embeddings)

    if not _is_built(shelves, options.collection):
        build = run_build(shelves, options.collection, False, encoder, _print_step)
        if build.phase is BuildPhase.FAILED:
            return 3
    screen_documents(shelves, options.collection)
    return 0


if __name__ == "__main__":
    sys.exit(main())
