"""Serve a model file (GGUF) on this machine through xllamacpp, as an OpenAI-compatible server like any other.

Optional: `.venv/bin/pip install 'rubrica[embedded]'`. As a program it serves one file until it is ended, with the key that
`RUBRICA_LLM_API_KEY` holds: `python -m workflows.chat_models.embedded FILE --name NAME --port N`.
"""

import argparse
import asyncio
import importlib
import importlib.util
import os
import secrets
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.domain.errors import SetupError
from workflows.chat_models.endpoint import ModelEndpoint
from workflows.chat_models.openai_compatible import OpenAICompatible, connect_model

ENGINE = "xllamacpp"
LOOPBACK = "127.0.0.1"
KEY = "RUBRICA_LLM_API_KEY"
BATCH_TOKENS = 256
"""The tokens of prompts that are read between two tokens of the other answers."""


@dataclass(frozen=True, slots=True)
class ServedFile:
    """A model file, and how to serve it. `slots` calls are answered at a time, each with the whole context."""

    path: Path
    name: str
    context_tokens: int = 8_192
    slots: int = 1
    threads: int = 1


def require_engine() -> None:
    """Check that the library is installed.

    Raises:
        SetupError: it is not; the message says how to install it.
    """
    if importlib.util.find_spec(ENGINE) is None:
        raise SetupError(f"a model on this machine needs {ENGINE}: `.venv/bin/pip install 'rubrica[embedded]'`")


def start_server(file: ServedFile, port: int, key: str) -> Any:
    """Load a model file and serve it on the loopback address; port 0 means any. The server ends with the returned object.

    Raises:
        SetupError: the file or the library is missing, the file is no model, or the port is taken.
    """
    require_engine()
    if not file.path.is_file():
        raise SetupError(f"there is no model file {file.path}")
    engine = importlib.import_module(ENGINE)
    parameters = engine.CommonParams()
    parameters.model.path = str(file.path)
    parameters.model_alias = {file.name}
    parameters.hostnames, parameters.port, parameters.api_keys = [LOOPBACK], port, [key]
    parameters.n_parallel, parameters.n_ctx = file.slots, file.slots * file.context_tokens
    # A long prompt must not keep the answers under way waiting for minutes.
    parameters.n_batch = parameters.n_ubatch = BATCH_TOKENS
    # The conversations that the slots hold are kept. A cache of earlier ones would take gigabytes beside them.
    parameters.cache_ram_mib = 0
    parameters.warmup = parameters.ui = False
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = file.threads
    try:
        return engine.Server(parameters)
    except (RuntimeError, ValueError) as error:
        raise SetupError(f"{file.path} cannot be served as a model: {error}") from error


@asynccontextmanager
async def open_embedded(path: Path, context_tokens: int = 8_192, threads: int = 1) -> AsyncIterator[OpenAICompatible]:
    """Serve a model file from this process and open it as a chat model. This takes seconds and about the file's size in memory.

    Raises:
        SetupError: as `start_server` does.
    """
    key = secrets.token_urlsafe()
    server = await asyncio.to_thread(start_server, ServedFile(path, path.stem, context_tokens, threads=threads), 0, key)
    async with connect_model(ModelEndpoint(f"{server.listening_address}/v1", path.stem, key)) as model:
        yield model


def main() -> None:
    """Serve one file until the process is ended."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--name", required=True)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--context", type=int, default=8_192)
    parser.add_argument("--slots", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    file = ServedFile(options.file, options.name, options.context, options.slots, options.threads)
    try:
        server = start_server(file, options.port, os.environ[KEY])
    except SetupError as error:
        raise SystemExit(str(error)) from error
    print(f"{options.name} is served at {server.listening_address}", flush=True)
    signal.pause()


if __name__ == "__main__":
    main()
