"""The index owner's service: HTTP and JSON over a unix socket.

    python -m retrieval.server --socket PATH --home DIR [--models-dir DIR] [--qdrant-url URL] [--encoder onnx] [--nli-model NAME]

One process owns a home's indexes, because the engine can be open in one only; the API and the workers reach it through
`retrieval.client`. Whoever may connect to the socket is trusted to name the tenant it acts for.

Errors are `{"error": message}` with status 400, 404, 409 or 500; 503 where the same request may be answered later.
"""

import argparse
import asyncio
import logging
import os
import signal
import sys
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import orjson
import uvloop
from aiohttp import web
from pydantic import ValidationError

from app.domain.errors import Conflict, InvalidInput, NotFound, RubricaError, ToolUnavailable
from app.garbage import collect_rarely
from app.settings import read_settings
from retrieval.catalogue import Collection, CorpusKind
from retrieval.encoder import EncoderBackend, EncoderOnce, open_encoder
from retrieval.engines import Engines, engines_of
from retrieval.home import open_shelves
from retrieval.library import Library
from retrieval.nli import CrossEncoderNli
from retrieval.owner import IndexOwner
from retrieval.owner_lock import own
from retrieval.ports import SearchFilter
from retrieval.reranker import open_reranker
from retrieval.verification_stream import stream_verification
from retrieval.weights_routes import add_weights_routes

MAX_REQUEST_BYTES = 1 << 20
STOP_WITHIN = timedelta(seconds=3)
_STATUS: tuple[tuple[type[RubricaError], int], ...] = (
    (NotFound, 404),
    (Conflict, 409),
    (InvalidInput, 400),
    (ToolUnavailable, 503),
)


def create_app(owner: IndexOwner, library: Library) -> web.Application:
    """The service over an opened owner."""
    app = web.Application(middlewares=[_errors_as_json], client_max_size=MAX_REQUEST_BYTES)

    async def health(_: web.Request) -> web.Response:
        return _json({"status": "ok", "pid": os.getpid(), "collections": library.collections()})

    async def search(request: web.Request) -> web.Response:
        body = await _body(request)
        where = SearchFilter.model_validate({key: body[key] for key in SearchFilter.model_fields if body.get(key)})
        passages = await owner.search(_text(body, "query"), int(body.get("limit", 10)), where)
        return _json({"passages": [passage.model_dump(mode="json") for passage in passages]})

    async def respell(request: web.Request) -> web.Response:
        body = await _body(request)
        where = SearchFilter.model_validate({key: body[key] for key in SearchFilter.model_fields if body.get(key)})
        return _json({"words": await owner.respell([str(word) for word in body.get("words") or ()], where)})

    async def read(request: web.Request) -> web.Response:
        body = await _body(request)
        where = SearchFilter.model_validate({"collections": body.get("collections") or ()})
        found = await asyncio.to_thread(library.read, _text(body, "url"), where.collections, body.get("tenant"))
        return _json(found.model_dump(mode="json"))

    async def snapshot(request: web.Request) -> web.Response:
        name = request.match_info["hash"]
        text = await asyncio.to_thread(library.snapshot, name, request.query.get("tenant"))
        return _json({"snapshot": name, "text": text})

    async def collections(_: web.Request) -> web.Response:
        return _json({"collections": await asyncio.to_thread(owner.states)})

    async def build(request: web.Request) -> web.Response:
        body = await _body(request)
        kind = CorpusKind(body.get("kind", CorpusKind.FOLDER))
        given = {field: str(body.get(field) or "") for field in ("path", "licence", "tenant")}
        wanted = Collection(name=request.match_info["name"], kind=kind, **given)
        return _json(await owner.build(wanted), status=202)

    async def progress(request: web.Request) -> web.Response:
        return _json(await asyncio.to_thread(owner.state, request.match_info["name"]))

    async def documents(request: web.Request) -> web.Response:
        states, strays = await asyncio.to_thread(owner.documents, request.match_info["name"])
        return _json({"documents": [state._asdict() for state in states], "strays": strays})

    async def stats(request: web.Request) -> web.Response:
        return _json(await owner.statistics(request.match_info["name"]))

    async def verification(request: web.Request) -> web.StreamResponse:
        return await stream_verification(request, owner)

    async def remove(request: web.Request) -> web.Response:
        await owner.remove(request.match_info["name"])
        return web.Response(status=204)

    app.router.add_get("/health", health)
    app.router.add_post("/search", search)
    app.router.add_post("/respell", respell)
    app.router.add_post("/read", read)
    app.router.add_get("/snapshots/{hash}", snapshot)
    app.router.add_get("/collections", collections)
    app.router.add_post("/collections/{name}/build", build)
    app.router.add_get("/collections/{name}/progress", progress)
    app.router.add_get("/collections/{name}/documents", documents)
    app.router.add_get("/collections/{name}/stats", stats)
    app.router.add_post("/collections/{name}/verify", verification)
    app.router.add_delete("/collections/{name}", remove)
    return app


@web.middleware
async def _errors_as_json(request: web.Request, handler: Any) -> web.StreamResponse:
    try:
        response: web.StreamResponse = await handler(request)
    except RubricaError as error:
        status = next((status for kind, status in _STATUS if isinstance(error, kind)), 500)
        return _json({"error": str(error)}, status=status)
    except (ValidationError, ValueError, TypeError) as error:
        return _json({"error": f"the request cannot be understood: {error}"}, status=400)
    return response


async def _body(request: web.Request) -> dict[str, Any]:
    body = orjson.loads(await request.read() or b"{}")
    if not isinstance(body, dict):
        raise InvalidInput("the request's body must be a JSON object")
    return body


def _text(body: dict[str, Any], name: str) -> str:
    value = body.get(name)
    if not isinstance(value, str) or not value.strip():
        raise InvalidInput(f"{name!r} is missing or empty")
    return value


def _json(content: Any, status: int = 200) -> web.Response:
    return web.Response(body=orjson.dumps(content), status=status, content_type="application/json")


@dataclass(frozen=True)
class Options:
    """How the service was started."""

    socket: Path
    home: Path
    models_dir: Path | None
    qdrant_url: str | None
    encoder: EncoderBackend
    nli_model: str | None

    def build_command(self) -> list[str]:
        """What starts a builder with the same settings, less the collection."""
        command = ["-m", "retrieval.builder", "--home", str(self.home), "--encoder", self.encoder]
        command += ["--models-dir", str(self.models_dir)] if self.models_dir else []
        return command + (["--qdrant-url", self.qdrant_url] if self.qdrant_url else [])


async def serve(options: Options, engines: Engines) -> None:
    """Serve until SIGTERM or SIGINT."""
    release = own(options.home)
    shelves = open_shelves(options.home, options.qdrant_url, engines.qdrant_grpc_port)
    models = options.home / "models"
    encoder = EncoderOnce(lambda: open_encoder(options.encoder, options.models_dir, models, server=engines.embeddings))
    library = Library(shelves.catalogue, shelves.store, shelves.index, encoder, open_reranker(engines.reranking))
    owner = IndexOwner(shelves, library, options.build_command())
    app = create_app(owner, library)
    add_weights_routes(app, encoder, CrossEncoderNli(options.nli_model) if options.nli_model else None)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=STOP_WITHIN.total_seconds())
    await runner.setup()
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    await owner.open()
    collect_rarely()
    await asyncio.to_thread(options.socket.unlink, missing_ok=True)  # a dead owner's: this one holds the lock
    await web.UnixSite(runner, str(options.socket)).start()
    await stop.wait()
    await owner.close()
    await runner.cleanup()
    shelves.close()
    release()


def main() -> int:
    """Serve; 2 with the reason when the home or the socket cannot be used."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--socket", type=Path, required=True)
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--models-dir", type=Path)
    parser.add_argument("--qdrant-url")
    parser.add_argument("--encoder", type=EncoderBackend, default=EncoderBackend.AUTO)
    parser.add_argument("--nli-model")
    options = Options(**vars(parser.parse_args()))
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    try:
        uvloop.run(serve(options, engines_of(read_settings(os.environ))))
    except (RubricaError, OSError) as error:
        sys.stderr.write(f"index owner: {error}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
