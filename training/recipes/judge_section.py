"""Judges of rollouts: models on a server, which recipes ask for rewards. All recipes name a judge in this one form."""

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import date
from pathlib import Path
from typing import Literal, TypeAlias

from pydantic import Field

from app.domain.query import Language
from app.domain.value import Value
from workflows.agents.codec import SchemaCodec, StepCodec, TagCodec
from workflows.agents.kit import Kit
from workflows.agents.ports import ChatModel
from workflows.chat_models.at_temperature import ModelAtTemperature
from workflows.chat_models.endpoint import ModelEndpoint
from workflows.chat_models.openai_compatible import connect_model
from workflows.judging.batch_record import AnswerStore, BatchRecord
from workflows.prompts.library import PromptLibrary

ANSWERS = "judge-answers.sqlite"
ATTEMPTS = 16
"""So many attempts, with the pauses between them, take about ten minutes: a server is started again meanwhile."""
OpenKits: TypeAlias = Callable[[Language], Sequence[Kit]]
"""Makes the kits of all judges, which ask in a language."""


class JudgeSection(Value):
    """A judge: a model on an OpenAI-compatible server (`url` with its `/v1`), asked by a schema or in tags.

    The configuration names it, so that the run's folder says who judged. Only its key is in the environment, in the variable
    that `key_from` names. At most `at_once` calls are under way. Whatever else its sampling takes (top-p, a longer context) is
    the server's to set.
    """

    url: str
    model: str
    key_from: str = "RUBRICA_EVAL_JUDGE_API_KEY"
    codec: Literal["schema", "tags"] = "schema"
    stream: bool = False
    temperature: float = Field(default=0.0, ge=0)
    at_once: int = Field(default=32, ge=1)

    @property
    def endpoint(self) -> ModelEndpoint:
        """The model's address, with the key that the environment holds."""
        return ModelEndpoint(base_url=self.url, model=self.model, api_key=os.environ.get(self.key_from, ""), stream=self.stream)


@asynccontextmanager
async def open_judges(
    sections: Sequence[JudgeSection], folder: Path, today: date, pause: Callable[[float], Awaitable[None]] = asyncio.sleep
) -> AsyncIterator[OpenKits]:
    """Connect to the judges. Their answers are stored in the run's folder, so that nothing is asked twice.

    An outage of ten minutes is waited out: what a judge misses, the policy has sampled in vain.
    """
    if not sections:
        yield lambda _: ()
        return
    prompts = PromptLibrary.load()
    async with AsyncExitStack() as stack:
        kept = AnswerStore(folder / ANSWERS)
        stack.callback(kept.close)
        chats = [await stack.enter_async_context(connect_model(section.endpoint)) for section in sections]
        models = [ModelAtTemperature(chat, section.temperature) for chat, section in zip(chats, sections, strict=True)]
        names = [section.model for section in sections]
        records = [
            BatchRecord(kept, section.at_once, ATTEMPTS, pause, namesake=names[:place].count(section.model))
            for place, section in enumerate(sections)
        ]
        codecs: list[StepCodec] = [TagCodec() if section.codec == "tags" else SchemaCodec() for section in sections]

        def open_kits(language: Language) -> list[Kit]:
            return [
                _make_kit(model, record, prompts, codec, today, language)
                for model, record, codec in zip(models, records, codecs, strict=True)
            ]

        yield open_kits


def _make_kit(
    model: ChatModel, record: BatchRecord, prompts: PromptLibrary, codec: StepCodec, today: date, language: Language
) -> Kit:
    return Kit(model, {}, record, prompts, codec, today, lambda: 0.0, language=language)
