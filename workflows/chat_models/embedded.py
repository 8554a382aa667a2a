"""Running a model file (GGUF) in this process through xllamacpp, for steps with a schema when no server is configured.

Optional: `.venv/bin/pip install 'rubrica[embedded]'`. Small models plan and query acceptably with a schema; none of them can
write a report.
"""

import asyncio
import importlib
from pathlib import Path
from typing import Any

import orjson

from app.domain.chat import ChatRequest, Completion
from app.domain.errors import ModelRefused, SetupError
from workflows.chat_models.endpoint import ModelPrices
from workflows.chat_models.openai_errors import error_from_object
from workflows.chat_models.openai_wire import ProtocolError, ServerError, make_request_body, read_whole


class EmbeddedModel:
    """One loaded model file. Calls run one by one, each in a thread, so that the event loop is not blocked."""

    def __init__(self, server: Any, name: str) -> None:
        self._server = server
        self._name = name
        self._turn = asyncio.Semaphore(1)

    @property
    def name(self) -> str:
        """The file's name without its suffix."""
        return self._name

    async def complete(self, request: ChatRequest) -> Completion:
        """Return one answer to one request.

        Raises:
            ContextTooLong: the conversation is longer than the loaded context.
            ModelRefused: the engine cannot take the request.
        """
        async with self._turn:
            answer = await asyncio.to_thread(
                self._server.handle_chat_completions,
                make_request_body(self._name, request, stream=False),
            )
        try:
            heard = read_whole(orjson.dumps(answer))
        except ServerError as error:
            raise error_from_object(error.error) from error
        except ProtocolError as error:
            raise ModelRefused(f"the embedded model gave no answer: {error}") from error
        usage = ModelPrices().bill(heard.input_tokens or 0, heard.output_tokens or 0)
        return Completion(text=heard.text, model=self._name, finish_reason=heard.finish_reason, usage=usage)


def load_embedded(path: Path, context_tokens: int = 8_192, threads: int = 1) -> EmbeddedModel:
    """Load a model file. This takes seconds and about the file's size in memory.

    Raises:
        SetupError: the file or the library is missing, or the file is no model.
    """
    if not path.is_file():
        raise SetupError(f"there is no model file {path}; set RUBRICA_MODELS_DIR to the folder that has it")
    try:
        engine = importlib.import_module("xllamacpp")
    except ImportError as error:
        raise SetupError("an embedded model needs xllamacpp: `.venv/bin/pip install 'rubrica[embedded]'`") from error
    parameters = engine.CommonParams()
    parameters.model.path = str(path)
    parameters.n_ctx = context_tokens
    parameters.n_parallel = 1
    parameters.warmup = False
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = threads
    try:
        return EmbeddedModel(engine.Server(parameters), path.stem)
    except (RuntimeError, ValueError) as error:
        raise SetupError(f"{path} cannot be loaded as a model: {error}") from error
