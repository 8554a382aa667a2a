"""The model that a setting has the local stack serve: what it takes, whether it fits, and the settings that lead to it."""

import os
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import psutil
from pydantic import SecretStr

from app.domain.errors import SetupError
from app.settings import ClaimGrader, Settings
from infra.local.home import Home
from infra.local.ports import LOOPBACK

SLOTS = 3
"""The calls that are answered at a time: as many as a quick run has searches. A search keeps its slot, and what it has read."""
ANSWER_ROOM = 2_048
"""The tokens for an answer, beside the context that agents are told of and may fill."""
MEGABYTE = 10**6
UNKNOWN_CONTEXT = 4_096
BESIDE_WEIGHTS_MB = 1_000
"""The memory that a model of unknown shape needs beside its weights, for its context and for calculating."""
UNKNOWN_TOKEN_BYTES = 131_072
"""The memory that a token of context takes in such a model: that of 32 layers with 8 heads of 128 keys and values."""


@dataclass(frozen=True, slots=True)
class ModelAtHand:
    """A model whose file is here, and what running it takes with this context.

    A token of more context takes `token_bytes` of memory in each slot. `minutes` is None for a file that is not in the catalogue.
    """

    name: str
    file: Path
    context: int
    memory_mb: int
    token_bytes: int
    minutes: tuple[int, int] | None = None

    def with_context(self, tokens: int) -> "ModelAtHand":
        """Return the model with another context; 0 keeps its own."""
        more = (tokens - self.context) * SLOTS * self.token_bytes // MEGABYTE
        return replace(self, context=tokens, memory_mb=self.memory_mb + max(0, more)) if tokens else self


def prepare_model(settings: Settings, home: Home) -> ModelAtHand | None:
    """Return the model to serve, whose file was verified; None where the settings name none.

    Raises:
        SetupError: the library or the file is missing, or the machine has too little memory.
    """
    if settings.local_model is None:
        return None
    # Other stacks start without an HTTP client.
    from workflows.chat_models.embedded import require_engine

    require_engine()
    found = _find_model(settings.local_model, settings.models_dir, home.root / "models")
    model, free = found.with_context(settings.llm_context), read_free_memory_mb()
    if free < model.memory_mb:
        or_less = ", or set a smaller RUBRICA_LLM_CONTEXT" if settings.llm_context > found.context else ""
        raise SetupError(
            f"{model.name} needs about {model.memory_mb:,} MB of memory, and {free:,} MB are free; end other programs{or_less}"
        )
    return model


def describe_model(model: ModelAtHand) -> str:
    """Return in one line what running the model takes."""
    low, high = model.minutes or (0, 0)
    takes = (
        f"a report at quick effort takes about {low} to {high} minutes on two cores" if model.minutes else "how long is not known"
    )
    memory = f"about {model.memory_mb:,} MB of memory ({read_free_memory_mb():,} MB are free)"
    return f"model {model.name}: a context of {model.context:,} tokens, {memory}; {takes}"


def point_to_model(settings: Settings, model: ModelAtHand, port: int) -> Settings:
    """Return the settings by which the other parts reach the model, as if it were any server.

    A small model cannot tell whether a source supports a claim, so it does not judge unless a setting says so.
    """
    served = {
        "local_model": None,
        "llm_base_url": f"http://{LOOPBACK}:{port}/v1",
        "llm_model": model.name,
        "llm_api_key": SecretStr(secrets.token_urlsafe()),
        "llm_context": model.context,
    }
    judge = ClaimGrader.NLI if settings.nli_model else ClaimGrader.OFFLINE
    return settings.model_copy(update=served | ({} if settings.judge else {"judge": judge}))


def serving_options(model: ModelAtHand, settings: Settings, port: int) -> Sequence[str]:
    """Return the options of the server's command."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    options: Mapping[str, object] = {
        "--name": model.name,
        "--port": port,
        "--context": model.context + ANSWER_ROOM,
        "--slots": SLOTS,
        "--threads": settings.local_model_threads or cores,
    }
    return [str(model.file), *(str(word) for pair in options.items() for word in pair)]


def _find_model(name: str, models_dir: Path | None, cache: Path) -> ModelAtHand:
    from workflows.chat_models.local_models import SUFFIX, name_model, require_model

    if name.endswith(SUFFIX):
        return _describe_file(Path(name).expanduser().absolute())
    file, entry = require_model(name, models_dir, cache), name_model(name)
    return ModelAtHand(name, file, entry.context, entry.memory_mb, entry.token_bytes, entry.minutes)


def _describe_file(path: Path) -> ModelAtHand:
    if not path.is_file():
        raise SetupError(f"RUBRICA_LOCAL_MODEL: there is no model file {path}")
    memory = path.stat().st_size // MEGABYTE + BESIDE_WEIGHTS_MB
    return ModelAtHand(path.stem, path, UNKNOWN_CONTEXT, memory, UNKNOWN_TOKEN_BYTES)


def read_free_memory_mb() -> int:
    """Return how much memory programs may still take, in millions of bytes."""
    return psutil.virtual_memory().available // MEGABYTE
