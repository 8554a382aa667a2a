"""From settings and records to the models of a worker."""

import contextlib
import logging
import os
from collections.abc import Mapping
from dataclasses import replace

import asyncpg

from app.domain.served_models import Notation, ServedModel
from app.models.service.serving import SETTINGS_KEY, list_models_of_settings
from app.models.storage import served
from app.settings import Settings
from workflows.agents.brief import BRIEF
from workflows.agents.codec import SchemaCodec, TagCodec
from workflows.agents.effort import USUAL_CONTEXT, is_small
from workflows.agents.model_driven import choose_agents
from workflows.agents.ports import ChatModel
from workflows.chat_models.absent import AbsentModel
from workflows.chat_models.at_temperature import fix_temperature
from workflows.chat_models.configured import endpoint_of
from workflows.chat_models.context_size import find_context_tokens
from workflows.chat_models.endpoint import ModelEndpoint, ModelPrices
from workflows.chat_models.openai_compatible import connect_model
from workflows.chat_models.served_book import OpenModel, ServedModels
from workflows.durable.persistence import persist
from workflows.prompts.library import SHORT, PromptLibrary

log = logging.getLogger(__name__)


async def open_served_models(
    settings: Settings, database: asyncpg.Pool, stack: contextlib.AsyncExitStack, environment: Mapping[str, str] = os.environ
) -> ServedModels:
    """Return the worker's models. The settings' model is connected at once, any other when it is first asked for.

    `stack` closes the connections. The keys of models that are not the settings' are in `environment`.
    """
    prompts, offered = PromptLibrary.load(), {model.name: model for model in list_models_of_settings(settings)}

    async def connect(model: ServedModel) -> OpenModel:
        endpoint = make_endpoint(model, settings, environment)
        chat = await stack.enter_async_context(connect_model(endpoint))
        equipped = equip_model(fix_temperature(chat, model.temperature), model, await _find_context(model, endpoint), prompts)
        return replace(equipped, on_this_machine=endpoint.on_this_machine)

    async def find(name: str) -> ServedModel | None:
        if name in offered:
            return offered[name]
        known = await persist(lambda: served.get(database, name))
        return known.model if known and known.gone_at is None else None

    main = next(iter(offered.values()), None)
    return ServedModels(await connect(main) if main else _stand_in(settings, prompts), find, connect)


def make_endpoint(model: ServedModel, settings: Settings, environment: Mapping[str, str]) -> ModelEndpoint:
    """Return where and how a served model is asked. The settings' key goes to the settings' server alone."""
    main = endpoint_of(settings)
    key = environment.get(model.key_setting, "") if model.key_setting != SETTINGS_KEY else ""
    if main is not None and model.key_setting == SETTINGS_KEY and model.address == main.base_url:
        key = main.api_key
    return ModelEndpoint(
        base_url=model.address,
        model=model.name,
        api_key=key,
        prices=ModelPrices(model.input_price, model.output_price),
        stream=settings.llm_stream,
        top_p=model.top_p,
    )


def equip_model(chat: ChatModel, model: ServedModel, context: int, prompts: PromptLibrary) -> OpenModel:
    """Return a connected model with the notation that it was made for, and what suits a context of so many tokens."""
    small = is_small(context)
    return OpenModel(
        chat=chat,
        codec=(TagCodec if model.notation is Notation.TAGS else SchemaCodec)(small),
        prompts=prompts.choose_versions(SHORT if small else {}),
        agents=choose_agents(context),
        prices=ModelPrices(model.input_price, model.output_price),
        context_tokens=context,
    )


def _stand_in(settings: Settings, prompts: PromptLibrary) -> OpenModel:
    model = ServedModel(name=AbsentModel.name, address="", notation=Notation(settings.llm_codec.value))
    return replace(equip_model(AbsentModel(), model, settings.llm_context, prompts), agents=BRIEF)


async def _find_context(model: ServedModel, endpoint: ModelEndpoint) -> int:
    """Return the tokens of the model's context: as recorded, else as its server tells, else 0."""
    tokens = model.context or await find_context_tokens(endpoint)
    if not tokens:
        log.warning(
            "the context of %s is unknown and taken for %d tokens: RUBRICA_LLM_CONTEXT sets it", endpoint.model, USUAL_CONTEXT
        )
    return tokens
