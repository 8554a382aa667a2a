"""The index owner's service: HTTP and JSON over a unix socket.

    python -m retrieval.service.server --socket PATH --home DIR [--models-dir DIR] [--qdrant-url URL] [--encoder onnx]
        [--nli-model NAME]

One process owns a home's indexes, because the engine can be open in one only; the API and the workers reach it through
`retrieval.service.client`. Whoever may connect to the socket is trusted to name the tenant it acts for.

Errors are `{"error": message}`, with the status that `retrieval.service.json_http` gives them.
"""

import argparse
import asyncio
import logging
import os
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import uvloop
from aiohttp import web

from app.domain.errors import RubricaError
from app.garbage import collect_garbage_rarely
from app.open_files import allow_open_files
from app.settings import read_settings
from retrieval.encoding.answer_rater import AnswerRater, RaterWhenHere, open_rater
from retrieval.encoding.encoder import EncoderBackend, EncoderOnFirstUse, open_encoder
from retrieval.encoding.endpoint import SEARCH_PATIENCE
from retrieval.encoding.engines import RetrievalEngines, engines_of
from retrieval.encoding.nli import CrossEncoderNli
from retrieval.search.library import Library
from retrieval.search.reranker import open_reranker
from retrieval.service.collection_routes import CollectionRoutes
from retrieval.service.fitting import FittingCollections
from retrieval.service.json_http import answer_json, errors_as_json
from retrieval.service.owner import IndexOwner
from retrieval.service.owner_lock import lock_home
from retrieval.service.search_routes import SearchRoutes
from retrieval.service.weights_routes import add_weights_routes
from retrieval.store.home import open_retrieval_home

MAX_REQUEST_BYTES = 1 << 20
STOP_WITHIN = timedelta(seconds=3)
MODEL_THREADS = min(4, os.cpu_count() or 1)
"""The texts that each model reads at once: a first search has 200 passages compared, while a person waits."""


def create_index_app(owner: IndexOwner, library: Library) -> web.Application:
    """Make the service of an opened owner."""
    app = web.Application(middlewares=[errors_as_json], client_max_size=MAX_REQUEST_BYTES)

    async def health(_: web.Request) -> web.Response:
        return answer_json({"status": "ok", "pid": os.getpid(), "collections": library.list_collections()})

    app.router.add_get("/health", health)
    app.add_routes(SearchRoutes(owner, library, FittingCollections(library)).list_routes())
    app.add_routes(CollectionRoutes(owner).list_routes())
    return app


@dataclass(frozen=True)
class Options:
    """The command-line options of the service."""

    socket: Path
    home: Path
    models_dir: Path | None
    qdrant_url: str | None
    encoder: EncoderBackend
    nli_model: str | None

    def build_command(self) -> list[str]:
        """Return the command that starts a builder with the same settings, without the collection."""
        command = ["-m", "retrieval.building.builder", "--home", str(self.home), "--encoder", self.encoder]
        command += ["--models-dir", str(self.models_dir)] if self.models_dir else []
        return command + (["--qdrant-url", self.qdrant_url] if self.qdrant_url else [])


def make_search_encoder(options: Options, engines: RetrievalEngines) -> EncoderOnFirstUse:
    """Make the encoder of searches. It also encodes passages, while somebody waits for the search that compares them."""
    weights = options.models_dir, options.home / "models"
    return EncoderOnFirstUse(
        lambda: open_encoder(options.encoder, *weights, MODEL_THREADS, engines.embeddings, patience=SEARCH_PATIENCE)
    )


def load_rater(options: Options, engines: RetrievalEngines, encoder: EncoderOnFirstUse) -> Callable[[], AnswerRater | None]:
    """Begin to find or fetch the models in a thread: first the encoder, which the first search needs, then the rater."""

    def load() -> AnswerRater:
        if engines.embeddings is None:
            encoder()
        return open_rater(options.models_dir, options.home / "models", MODEL_THREADS)

    return RaterWhenHere(load) if options.encoder is not EncoderBackend.NONE else lambda: None


async def serve(options: Options, engines: RetrievalEngines) -> None:
    """Serve until SIGTERM or SIGINT."""
    release = lock_home(options.home)
    shelves = open_retrieval_home(options.home, options.qdrant_url, engines.qdrant_grpc_port, engines.qdrant_prefix)
    encoder = make_search_encoder(options, engines)
    rater = load_rater(options, engines, encoder)
    library = Library(shelves.catalogue, shelves.store, shelves.index, encoder, open_reranker(engines.reranking), rater)
    owner = IndexOwner(shelves, library, options.build_command())
    app = create_index_app(owner, library)
    add_weights_routes(app, CrossEncoderNli(options.nli_model) if options.nli_model else None)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=STOP_WITHIN.total_seconds())
    await runner.setup()
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    await owner.open()
    collect_garbage_rarely()  # a search makes thousands of keys and scores, and no cycles
    await asyncio.to_thread(options.socket.unlink, missing_ok=True)  # a dead owner's socket: this process holds the lock
    await web.UnixSite(runner, str(options.socket)).start()
    await stop.wait()
    await owner.close()
    await runner.cleanup()
    shelves.close()
    release()


def main() -> int:
    """Serve. Return 2 and print the reason when the home or the socket cannot be used."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--socket", type=Path, required=True)
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--models-dir", type=Path)
    parser.add_argument("--qdrant-url")
    parser.add_argument("--encoder", type=EncoderBackend, default=EncoderBackend.AUTO)
    parser.add_argument("--nli-model")
    options = Options(**vars(parser.parse_args()))
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    allow_open_files()
    try:
        uvloop.run(serve(options, engines_of(read_settings(os.environ))))
    except (RubricaError, OSError) as error:
        sys.stderr.write(f"index owner: {error}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
