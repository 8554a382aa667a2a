"""The models of a run: which one answers, which one judges, and what they cost."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from app.domain.errors import SetupError
from app.settings import Codec as CodecName
from app.settings import Settings
from training.evaluation.harness.manifest import ModelUsed
from workflows.agents.codec import Codec, SchemaCodec, TagCodec
from workflows.agents.ports import ChatModel
from workflows.chat_models.configured import endpoint_of, judge_of
from workflows.chat_models.embedded import load_embedded
from workflows.chat_models.endpoint import Endpoint
from workflows.chat_models.openai_compatible import connected

EMBEDDED_CONTEXT = 16_384


@dataclass(frozen=True, slots=True)
class Served:
    """A model that can be asked, and what the manifest says of it."""

    chat: ChatModel
    used: ModelUsed


@dataclass(frozen=True, slots=True)
class Models:
    """The model that systems ask and the judge; None where there is none."""

    system: Served | None
    judge: Served | None

    def require_judge(self) -> Served:
        """The judge.

        Raises:
            SetupError: there is none; the message says how to name one.
        """
        if self.judge is None:
            raise SetupError(
                "a judge is a model: set RUBRICA_LLM_BASE_URL and RUBRICA_LLM_MODEL (or RUBRICA_EVAL_JUDGE_...), "
                "or name a model file with --model-file"
            )
        return self.judge


def codec_of(settings: Settings) -> Codec:
    """How structured answers are asked for."""
    return TagCodec() if settings.llm_codec is CodecName.TAGS else SchemaCodec()


@asynccontextmanager
async def models_of(settings: Settings, file: Path | None) -> AsyncIterator[Models]:
    """The models that the settings name; `file` is one in this process, for whatever they name none.

    Raises:
        SetupError: the file cannot be loaded.
    """
    codec = settings.llm_codec.value
    own = endpoint_of(settings)
    if file is not None and own is not None:
        raise SetupError("RUBRICA_LLM_BASE_URL names a server, and --model-file a file; leave one of them out")
    embedded = _embedded(file, codec) if file else None
    if own is None:
        judge = judge_of(settings)
        if judge is None:
            yield Models(embedded, embedded)
            return
        async with connected(judge) as chat:
            yield Models(embedded, Served(chat, _used(judge, codec)))
        return
    judge = judge_of(settings) or own
    async with connected(own) as chat, connected(judge) as second:
        yield Models(Served(chat, _used(own, codec)), Served(second, _used(judge, codec)))


def _embedded(file: Path, codec: str) -> Served:
    model = load_embedded(file, EMBEDDED_CONTEXT)
    return Served(model, ModelUsed(name=model.name, codec=codec))


def _used(endpoint: Endpoint, codec: str) -> ModelUsed:
    prices = endpoint.prices
    return ModelUsed(name=endpoint.model, codec=codec, input_price=prices.input, output_price=prices.output)
