"""The models of a run: the one that answers, the one that judges, and their prices."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from app.domain.errors import SetupError
from app.settings import Codec as CodecName
from app.settings import Settings
from training.evaluation.harness.manifest import ModelUsed
from workflows.agents.codec import SchemaCodec, StepCodec, TagCodec
from workflows.agents.ports import ChatModel
from workflows.chat_models.configured import endpoint_of, judge_of
from workflows.chat_models.embedded import open_embedded
from workflows.chat_models.endpoint import ModelEndpoint
from workflows.chat_models.openai_compatible import connect_model

EMBEDDED_CONTEXT = 16_384


@dataclass(frozen=True, slots=True)
class ServedModel:
    """A model that can be asked, and its entry in the manifest."""

    chat: ChatModel
    used: ModelUsed


@dataclass(frozen=True, slots=True)
class RunModels:
    """The model of the systems and the judge's model; None where there is none."""

    system: ServedModel | None
    judge: ServedModel | None

    def require_judge(self) -> ServedModel:
        """Return the judge.

        Raises:
            SetupError: there is none; the message says how to name one.
        """
        if self.judge is None:
            raise SetupError(
                "a judge is a model: set RUBRICA_LLM_BASE_URL and RUBRICA_LLM_MODEL (or RUBRICA_EVAL_JUDGE_...), "
                "or name a model file with --judge-file or --model-file"
            )
        return self.judge


def codec_of(settings: Settings) -> StepCodec:
    """Return the codec of structured answers."""
    return TagCodec() if settings.llm_codec is CodecName.TAGS else SchemaCodec()


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """Model files (GGUF) to load into this process: one where the settings name no server, one that only judges."""

    model: Path | None = None
    judge: Path | None = None
    threads: int = 1


@asynccontextmanager
async def open_models(settings: Settings, files: ModelFiles) -> AsyncIterator[RunModels]:
    """Open the models that the settings name, and those of `files`.

    Raises:
        SetupError: a file cannot be loaded, or a file and a server are both named for the same part.
    """
    codec = settings.llm_codec.value
    if settings.local_model is not None:
        raise SetupError("RUBRICA_LOCAL_MODEL is for `rubrica ask` and `rubrica up`; name a file with --model-file")
    own, judge = endpoint_of(settings), None if files.judge else judge_of(settings)
    if files.model is not None and own is not None:
        raise SetupError("RUBRICA_LLM_BASE_URL names a server, and --model-file a file; leave one of them out")
    if files.judge is not None and settings.eval_judge_model is not None:
        raise SetupError("RUBRICA_EVAL_JUDGE_MODEL names a judge, and --judge-file a file; leave one of them out")
    async with AsyncExitStack() as stack:
        system = await _open_model(stack, own, files.model, codec, files.threads)
        judging = await _open_model(stack, judge, files.judge, codec, files.threads)
        yield RunModels(system, judging or system)


async def _open_model(
    stack: AsyncExitStack, endpoint: ModelEndpoint | None, file: Path | None, codec: str, threads: int
) -> ServedModel | None:
    if endpoint is not None:
        return ServedModel(await stack.enter_async_context(connect_model(endpoint)), _used_model_of(endpoint, codec))
    if file is None:
        return None
    model = await stack.enter_async_context(open_embedded(file, EMBEDDED_CONTEXT, threads))
    return ServedModel(model, ModelUsed(name=model.name, codec=codec))


def _used_model_of(endpoint: ModelEndpoint, codec: str) -> ModelUsed:
    prices = endpoint.prices
    return ModelUsed(name=endpoint.model, codec=codec, input_price=prices.input, output_price=prices.output)
