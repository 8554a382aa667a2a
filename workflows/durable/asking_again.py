"""A stored run's writer, or its planner, is asked again with another model or other prompts, over what the run found.

The searches are played back: a strict tape answers each tool, and refuses a call that the run did not make. Nothing is stored.
"""

from collections.abc import Awaitable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from app.domain.errors import Conflict, InvalidInput, SetupError, Unavailable
from app.domain.evidence import Quote
from app.domain.plan import ResearchPlan
from app.domain.query import ResearchQuery, SystemName
from app.domain.report import Report
from app.domain.served_models import ModelRole
from app.domain.writer import Agents, ReportLineage, WriterSettings
from app.reports.storage.reports import find_surroundings
from workflows.agents.agent_set import AgentSet
from workflows.agents.kit import Kit
from workflows.agents.ports import Tool
from workflows.chat_models.served_book import OpenModel
from workflows.durable.report_stage import judges_of
from workflows.durable.stored_run import StoredRun
from workflows.durable.workshop import Workshop
from workflows.durable.writers import open_model, writer_of
from workflows.judging.context import QuoteContext
from workflows.judging.report_measure import SupportMeasure, measure_support
from workflows.systems.local import LocalStages
from workflows.systems.local_record import LocalRecord
from workflows.tools.taped_tools import CallNotRecorded, TapeMode, tape_tools

R = TypeVar("R")
OF_PLANNER = frozenset({"intent", "plan"})
OF_SEARCHES = frozenset({"search", "finding", "second_round"})


@dataclass(frozen=True, slots=True)
class NewReport:
    """A report that was written again, and how; `score` is that by the run's rubric, None without one."""

    report: Report
    lineage: ReportLineage
    score: float | None


@dataclass(frozen=True, slots=True)
class NewPlan:
    """A plan that was made again, and the model that made it."""

    plan: ResearchPlan
    model: str


@dataclass(frozen=True, slots=True)
class Replay:
    """A stored run whose agents are asked again. `record` keeps what is asked, and what it costs, also where asking fails."""

    shop: Workshop
    stored: StoredRun
    record: LocalRecord

    async def write(self, wish: WriterSettings) -> NewReport:
        """Ask the writer again, as far as the wish differs from the run's own settings; then all that follows the searches.

        Raises:
            InvalidInput: the run's system has no writer of its own, or a prompt is none of the writer's.
            Conflict: the run found nothing to write of, or the writer would have to search.
            ModelRefused, PromptError: the wish names a model or a prompt that there is not.
            Unavailable: the model is away, or refuses.
        """
        stored, own = self.stored, self.stored.query.writer
        self._require_chain()
        refuse_prompts(wish.prompts, OF_PLANNER | OF_SEARCHES, "the writer is not asked with it")
        if not stored.has_evidence:
            raise Conflict(
                f"run {stored.run.id} ({stored.run.status}) has no evidence to write of: it found nothing, or that is deleted"
            )
        merged = wish.over(own).model_copy(update={"agents": Agents.MODEL, "prompts": own.prompts | wish.prompts})
        query = stored.query.model_copy(update={"writer": merged})
        writer, models = await writer_of(self.shop, query), await self.shop.open_models(query)
        stages = self._open_stages(writer.agents, writer.model, query)
        stages.judge = self._make_kit(models[ModelRole.JUDGE], query)
        report = await self._ask(stages.report(stored.plan, stored.findings))
        lineage = writer.lineage.model_copy(update={"composition": report.composition or ""})
        return NewReport(report, lineage, stages.scorecard.overall if stages.scorecard else None)

    async def plan(self, wish: WriterSettings) -> NewPlan:
        """Ask the planner again. The searches of its plan are not made.

        Raises: as `write`.
        """
        self._require_chain()
        refuse_prompts(wish.prompts, wish.prompts.keys() - OF_PLANNER, "the planner is not asked with it")
        query = self.stored.query
        model = await open_model(self.shop, wish.model, query.models.planner)
        model = replace(model, prompts=model.prompts.choose_versions(wish.prompts))
        stages = self._open_stages(self.shop.agents_of(query, model), model, query)
        return NewPlan(await self._ask(stages.plan(query)), model.name)

    def _require_chain(self) -> None:
        system = self.stored.query.system
        if system is not SystemName.MINDDR:
            raise InvalidInput(
                f"{system} plans and writes while it searches: a replay, which makes no new searches, cannot ask it"
            )
        if not self.shop.asks_a_model:
            raise SetupError("a replay asks a model: set RUBRICA_LLM_BASE_URL and RUBRICA_LLM_MODEL")

    def _open_stages(self, agents: AgentSet, model: OpenModel, query: ResearchQuery) -> LocalStages:
        stored = self.stored
        judges, kit = judges_of(self.shop, spends=True), self._make_kit(model, query)
        return LocalStages(agents, kit, self.record, query, stored.notes, judges, stored.rubric, find_around=self.find_around)

    def _make_kit(self, model: OpenModel, query: ResearchQuery) -> Kit:
        """Return the kit of the run's agents, with its tape in the place of the world."""
        stored = self.stored
        kit = self.shop.make_kit(query, stored.run.id, model, self.record, stored.asked_on, lambda: 0.0, stored.notes)
        tools = tape_tools(kit.tools, stored.tape, TapeMode.STRICT)
        return replace(kit, tools=tools, whole=self._play_back(kit.whole), shelves=self._play_back(kit.shelves))

    def _play_back(self, tool: Tool | None) -> Tool | None:
        """Return a tool that is called unasked as the tape has it; None where the run did not call it."""
        if tool is None or tool.name not in self.stored.tape.names:
            return None
        return tape_tools({tool.name: tool}, self.stored.tape, TapeMode.STRICT)[tool.name]

    async def measure(self, report: Report) -> SupportMeasure:
        """Grade the sentences of a report over the run's evidence, without a model."""
        kit = self._make_kit(self.shop.models.main, self.stored.query)
        return await measure_support(report, self.stored.findings, kit, await self.find_around(report.quotes))

    async def find_around(self, quotes: Sequence[Quote]) -> Mapping[str, QuoteContext]:
        """Return, by quote key, the text around quotes in the stored copies of their sources."""
        found = await find_surroundings(self.shop.database, quotes)
        return {key: QuoteContext(*texts) for key, texts in found.items()}

    async def _ask(self, asking: Awaitable[R]) -> R:
        """Return the answer, unless it is not what was asked for: the model was away, or a search is missing."""
        try:
            answer = await asking
        except CallNotRecorded as missing:
            self._refuse_outage()
            raise Conflict(f"a replay makes no new searches, and this needs one: {missing}") from missing
        self._refuse_outage()
        return answer

    def _refuse_outage(self) -> None:
        if self.record.outage:
            raise Unavailable(f"the model did not answer: {self.record.outage}")


def refuse_prompts(chosen: Iterable[str], others: Iterable[str], why: str) -> None:
    """Refuse a version of a prompt that would change nothing.

    Raises:
        InvalidInput: one of the prompts that were chosen is among the `others`.
    """
    if idle := sorted({*chosen} & {*others}):
        raise InvalidInput(f"the prompt {idle[0]!r} would change nothing here: {why}")
