"""Answers to a benchmark's questions: from a research system in this process, the search alone, or a file of reports."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Protocol
from urllib.parse import unquote

from pydantic import ValidationError

from app.domain.errors import RubricaError, ToolError
from app.domain.query import Effort, ResearchQuery, SystemName
from app.domain.report import Report
from app.domain.trajectory import Turn
from app.domain.writer import Composition, WriterSettings
from app.reports.rendering.marks import remove_places
from app.reports.rendering.numbering import number_citations
from retrieval.ports import PageReader, Searcher, SearchFilter
from training.evaluation.benchmarks.files import FinishedReport
from training.evaluation.harness.caps import NO_CAPS, Caps
from training.evaluation.harness.cited_pages import cut_page, group_cited_quotes
from training.evaluation.harness.example import BenchmarkAnswer, Example
from training.evaluation.harness.folder import RunFolder
from workflows.agents.agent_set import AgentSet
from workflows.agents.codec import StepCodec
from workflows.agents.effort import bounds_of, limits_of
from workflows.agents.kit import Kit
from workflows.agents.ports import ChatModel
from workflows.prompts.library import PromptLibrary
from workflows.systems.local import LocalStages
from workflows.systems.local_record import LocalRecord
from workflows.systems.minddr import research
from workflows.systems.steering import PlanSteering
from workflows.tools.tool_memory import DictToolStore, ToolMemory
from workflows.tools.toolbox import OutsideTools, ToolCorpora, build_toolbox

MOST_DOCUMENTS = 10
PASSAGES = 40
"""The number of searched passages. It is large enough that they come from ten documents."""


class Answerer(Protocol):
    """A source of answers. It does not raise where it cannot answer a question: `Answer.failed` says why."""

    async def answer(self, example: Example[Any]) -> BenchmarkAnswer:
        """Answer one question."""
        ...


@dataclass(frozen=True, slots=True)
class World:
    """The search and the pages of a system, here and outside; `corpora` assigns the collections to the tools."""

    searcher: Searcher
    reader: PageReader
    corpora: ToolCorpora
    outside_tools: OutsideTools


@dataclass(frozen=True, slots=True)
class SystemAnswerer:
    """A research system over `LocalStages`. Each turn is stored when it ends, so that a killed run does not pay for it again."""

    system: SystemName
    effort: Effort
    agents: AgentSet
    chat: ChatModel
    codec: StepCodec
    prompts: PromptLibrary
    world: World
    today: date
    folder: RunFolder
    caps: Caps = NO_CAPS
    composition: Composition | None = None
    one_conversation: bool = False

    async def answer(self, example: Example[Any]) -> BenchmarkAnswer:
        """Answer with a report, and store its cited pages with the run.

        What the agents make of an outage is no answer of the system: the item has failed, and is tried again later.
        """
        turns = self.folder.read_turns(example.id)
        record = LocalRecord(example.id, turns, keep=lambda turn: self.folder.keep_turn(example.id, turn))
        began = time.monotonic()
        try:
            query = ResearchQuery(
                question=example.question,
                language=example.language,
                system=self.system,
                effort=self.effort,
                writer=WriterSettings(composition=self.composition),
                one_conversation=self.one_conversation,
            )
            report = await research(
                query, LocalStages(self.agents, self._build_kit(query, record, turns), record, query), PlanSteering()
            )
        except (RubricaError, ValidationError) as error:
            return _make_failure(example, str(error), record, began)
        if record.outage:
            return _make_failure(example, record.outage, record, began)
        if turns:  # some may be answers to what the agents asked during an outage, and nobody asks that again
            self.folder.replace_turns(example.id, record.trajectory.turns)
        seconds = sum_stages(turns) + time.monotonic() - began
        pages = await self._store_pages(report)
        return BenchmarkAnswer(
            item=example.id, text=render_plain(report), report=report, pages=pages, usage=record.usage, seconds=round(seconds, 3)
        )

    def _build_kit(self, query: ResearchQuery, record: LocalRecord, turns: Sequence[Turn]) -> Kit:
        store = DictToolStore()
        memory = ToolMemory(store)
        store.remember((turn.call, turn.result) for turn in turns if turn.call and turn.result and not turn.result.error)
        return Kit(
            chat=self.chat,
            tools=build_toolbox(
                self.world.searcher, self.world.reader, self.world.corpora, memory, outside=self.world.outside_tools
            ),
            record=record,
            prompts=self.prompts,
            codec=self.codec,
            today=self.today,
            clock=lambda: 0.0,
            limits=self.caps.cap_limits(limits_of(query)),
            bounds=self.caps.cap_bounds(bounds_of(query), query.language),
            language=query.language,
        )

    async def _store_pages(self, report: Report) -> dict[str, str]:
        """Store the texts of the cited sources, by address. The quotes stand in for a source that cannot be read again."""
        cited = group_cited_quotes(report)
        return {url: self.folder.keep_page(cut_page(await self._read_page(url, report), quotes)) for url, quotes in cited.items()}

    async def _read_page(self, url: str, report: Report) -> str:
        try:
            return (await self.world.reader.read(url)).text
        except ToolError:
            return "\n\n".join(quote.text for quote in report.quotes if quote.source.url == url)


@dataclass(frozen=True, slots=True)
class SearchAnswerer:
    """The search alone: it answers with the documents that it ranks first, by the benchmark's names for them."""

    searcher: Searcher
    collection: str

    async def answer(self, example: Example[Any]) -> BenchmarkAnswer:
        """Answer with at most ten documents, each once."""
        began = time.monotonic()
        try:
            found = await self.searcher.search(example.question, PASSAGES, SearchFilter(collections=(self.collection,)))
        except ToolError as error:
            return BenchmarkAnswer(item=example.id, failed=str(error))
        ranking = dict.fromkeys(unquote(passage.source.url.partition("/")[2]) for passage in found)
        return BenchmarkAnswer(item=example.id, ranking=tuple(ranking)[:MOST_DOCUMENTS], seconds=time.monotonic() - began)


@dataclass(frozen=True, slots=True)
class FileAnswerer:
    """Finished reports of another system, by item; their pages are stored with the run."""

    reports: Mapping[str, FinishedReport]
    folder: RunFolder

    async def answer(self, example: Example[Any]) -> BenchmarkAnswer:
        """Answer with the report as it is."""
        found = self.reports.get(example.id)
        if found is None or not found.article.strip():
            return BenchmarkAnswer(item=example.id, failed="the file has no report for it")
        pages = {url: self.folder.keep_page(cut_page(text)) for url, text in found.pages.items()}
        return BenchmarkAnswer(item=example.id, text=found.article, pages=pages)


class EmptyAnswerer:
    """A source of empty answers, for benchmarks whose examples bring the judged texts."""

    async def answer(self, example: Example[Any]) -> BenchmarkAnswer:
        """Answer with nothing."""
        return BenchmarkAnswer(item=example.id)


def _make_failure(example: Example[Any], why: str, record: LocalRecord, began: float) -> BenchmarkAnswer:
    return BenchmarkAnswer(item=example.id, failed=why, usage=record.usage, seconds=time.monotonic() - began)


def sum_stages(turns: Sequence[Turn]) -> float:
    """Return the seconds that these turns took: stages follow one another, but the searches run side by side."""
    latest: dict[str, float] = {}
    for turn in turns:
        stage = turn.agent.partition("/")[0]
        latest[stage] = max(latest.get(stage, 0.0), turn.elapsed_s)
    return sum(latest.values())


def render_plain(report: Report) -> str:
    """Render a report as a judge reads it: title, sections and citation numbers; no notices, marks or list of sources."""
    bodies = [remove_places(body) for body in number_citations(report).bodies]
    sections = [f"{'#' * s.level} {s.heading}\n\n{body}" for s, body in zip(report.sections, bodies, strict=True)]
    return "\n\n".join([f"# {report.title}", *sections])
