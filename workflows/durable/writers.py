"""The writer of a run's report: the workshop's own parts, except those that the run's writer settings replace."""

from dataclasses import dataclass

from app.domain.errors import ModelRefused
from app.domain.query import ResearchQuery
from app.domain.writer import Agents, ReportLineage
from workflows.agents.agent_set import AgentSet
from workflows.agents.ports import ChatModel
from workflows.chat_models.at_temperature import ModelAtTemperature
from workflows.durable.workshop import Workshop
from workflows.prompts.library import PromptLibrary


@dataclass(frozen=True, slots=True)
class ReportWriter:
    """A report agent with its model and prompts, and the lineage of what it writes."""

    agents: AgentSet
    chat: ChatModel
    prompts: PromptLibrary
    lineage: ReportLineage


def writer_of(shop: Workshop, query: ResearchQuery) -> ReportWriter:
    """Return the writer that the query asks for; without a model in the workshop, the one that quotes.

    Raises:
        ModelRefused: the query names a model that this installation does not offer.
        PromptError: the query names a version of a prompt that does not exist.
    """
    wish = query.writer
    if wish.agents is Agents.BRIEF or not shop.asks_a_model:
        return make_brief_writer(shop, query)
    chat, prompts = _model_of(shop, wish.model), shop.prompts.choose_versions(wish.prompts)
    lineage = ReportLineage(
        system=query.system,
        agents=Agents.MODEL,
        model=chat.name,
        temperature=wish.temperature,
        prompts=prompts.list_used(query.language),
        build=shop.build,
    )
    warm = chat if wish.temperature is None else ModelAtTemperature(chat, wish.temperature)
    return ReportWriter(shop.agents_of(query), warm, prompts, lineage)


def make_brief_writer(shop: Workshop, query: ResearchQuery) -> ReportWriter:
    """Return the writer that needs no model."""
    arrangement = query.writer.arrangement
    lineage = ReportLineage(system=query.system, agents=Agents.BRIEF, arrangement=arrangement, build=shop.build)
    return ReportWriter(shop.fallback, shop.chat, shop.prompts, lineage)


def _model_of(shop: Workshop, name: str | None) -> ChatModel:
    if name is None or name == shop.chat.name:
        return shop.chat
    if name not in shop.alternatives:
        raise ModelRefused(f"this installation does not offer the model {name!r}; RUBRICA_LLM_ALTERNATIVES names those it does")
    return shop.alternatives[name].chat
