"""The rubric generator that scores a set, as options of a request: generator=URL (with /v1) and generator_model=NAME."""

import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from app.domain.errors import InvalidInput
from app.settings import Codec
from training.evaluation.harness.manifest import ModelUsed
from training.evaluation.harness.models import ServedModel
from workflows.chat_models.endpoint import ModelEndpoint
from workflows.chat_models.openai_compatible import connect_model

GENERATOR_URL, GENERATOR_MODEL = "generator", "generator_model"
KEY = "RUBRICA_EVAL_JUDGE_API_KEY"
"""The variable with the generator's key, as in the configuration of recipes."""


@asynccontextmanager
async def open_generator(options: Mapping[str, str]) -> AsyncIterator[ServedModel | None]:
    """Open the generator that the options name; None where they name none.

    Raises:
        InvalidInput: only one of both options is given.
    """
    url, model = options.get(GENERATOR_URL, ""), options.get(GENERATOR_MODEL, "")
    if bool(url) != bool(model):
        raise InvalidInput(f"a rubric generator is --option {GENERATOR_URL}=URL and --option {GENERATOR_MODEL}=NAME: give both")
    if not url:
        yield None
        return
    async with connect_model(ModelEndpoint(base_url=url, model=model, api_key=os.environ.get(KEY, ""))) as chat:
        yield ServedModel(chat, ModelUsed(name=model, codec=Codec.TAGS))
