"""The writer of a run's report: the workshop's own parts, except those that the run's writer settings replace."""

from dataclasses import dataclass, replace

from app.domain.errors import ModelRefused
from app.domain.query import ResearchQuery
from app.domain.writer import Agents, ReportLineage
from workflows.agents.agent_set import AgentSet
from workflows.chat_models.at_temperature import fix_temperature
from workflows.chat_models.served_book import OpenModel
from workflows.durable.workshop import Workshop


@dataclass(frozen=True, slots=True)
class ReportWriter:
    """A report agent with its model and prompts, and the lineage of what it writes."""

    agents: AgentSet
    model: OpenModel
    lineage: ReportLineage


async def writer_of(shop: Workshop, query: ResearchQuery) -> ReportWriter:
    """Return the writer that the query asks for; without a model in the workshop, the one that quotes.

    Raises:
        ModelRefused: the query names a model that this installation does not offer.
        PromptError: the query names a version of a prompt that does not exist.
    """
    wish = query.writer
    if wish.agents is Agents.BRIEF or not shop.asks_a_model:
        return make_brief_writer(shop, query)
    model = await open_model(shop, wish.model, query.models.writer)
    prompts = model.prompts.choose_versions(wish.prompts)
    lineage = ReportLineage(
        system=query.system,
        agents=Agents.MODEL,
        model=model.name,
        temperature=wish.temperature,
        prompts=prompts.list_used(query.language),
        build=shop.build,
    )
    as_wished = replace(model, chat=fix_temperature(model.chat, wish.temperature), prompts=prompts)
    return ReportWriter(shop.agents_of(query, model), as_wished, lineage)


def make_brief_writer(shop: Workshop, query: ResearchQuery) -> ReportWriter:
    """Return the writer that needs no model."""
    arrangement = query.writer.arrangement
    lineage = ReportLineage(system=query.system, agents=Agents.BRIEF, arrangement=arrangement, build=shop.build)
    return ReportWriter(shop.fallback, shop.models.main, lineage)


async def open_model(shop: Workshop, name: str | None, usual: str) -> OpenModel:
    """Return the model of this name; where none is named, the `usual` one of the role.

    Raises:
        ModelRefused: this installation does not offer the model that is named.
    """
    if name is None:
        return await shop.models.open(usual)
    found = await shop.models.find_open(name)
    if found is None:
        raise ModelRefused(f"this installation does not offer the model {name!r}; RUBRICA_LLM_ALTERNATIVES names those it does")
    return found
