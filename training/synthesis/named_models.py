"""Models that a set names beside those of the settings: the policy that is sampled, and the generator of rubrics."""

import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

from app.domain.errors import InvalidInput
from app.settings import Codec
from training.evaluation.harness.manifest import ModelUsed
from training.evaluation.harness.models import ServedModel
from workflows.chat_models.endpoint import ModelEndpoint
from workflows.chat_models.openai_compatible import connect_model

GENERATOR_URL, GENERATOR_MODEL = "generator", "generator_model"
KEY = "RUBRICA_EVAL_JUDGE_API_KEY"
"""The variable with the generator's key, as in the configuration of recipes."""


@dataclass(frozen=True, slots=True)
class NamedModel:
    """A model at a server, and the notation in which it is asked."""

    endpoint: ModelEndpoint
    codec: Codec = Codec.TAGS


@dataclass(frozen=True, slots=True)
class NamedModels:
    """The models that a cycle of retraining names. `policy` is sampled in place of the settings' model, which still judges where
    the settings name no judge. `generator` writes rubrics in place of what the options name.
    """

    policy: NamedModel | None = None
    generator: NamedModel | None = None


OF_SETTINGS = NamedModels()
"""No model beside those of settings and options."""


def name_generator(options: Mapping[str, str]) -> NamedModel | None:
    """Return the generator that a request names by generator=URL (with /v1) and generator_model=NAME; None where it names none.

    It is asked in tags, as it is trained.

    Raises:
        InvalidInput: only one of both options is given.
    """
    url, model = options.get(GENERATOR_URL, ""), options.get(GENERATOR_MODEL, "")
    if bool(url) != bool(model):
        raise InvalidInput(f"a rubric generator is --option {GENERATOR_URL}=URL and --option {GENERATOR_MODEL}=NAME: give both")
    return NamedModel(ModelEndpoint(base_url=url, model=model, api_key=os.environ.get(KEY, ""))) if url else None


@asynccontextmanager
async def open_named(named: NamedModel | None) -> AsyncIterator[ServedModel | None]:
    """Open a model; None where none is named."""
    if named is None:
        yield None
        return
    prices = named.endpoint.prices
    used = ModelUsed(name=named.endpoint.model, codec=named.codec, input_price=prices.input, output_price=prices.output)
    async with connect_model(named.endpoint) as chat:
        yield ServedModel(chat, used)
