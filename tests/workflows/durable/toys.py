"""Small agents over a small model and index, so that tests of durability say exactly what each stage does."""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from app.domain.budget import StopReason, Usage
from app.domain.chat import ChatRequest, ChatRole, Completion, Message, ResponseSchema, ToolCall, ToolResult
from app.domain.errors import NotFound, ToolError
from app.domain.evidence import Finding, Passage, Quote, Source, snapshot_hash
from app.domain.plan import ResearchPlan, Subtask
from app.domain.query import ResearchQuery
from app.domain.report import Report, Section
from retrieval.ports import CollectionDescription, Document, SearchFilter
from workflows.agents.agent_set import AgentSet
from workflows.agents.concurrency import gather_all
from workflows.agents.kit import Kit
from workflows.agents.ports import BudgetSpent

Hook = Callable[[str], Awaitable[None]]


async def answer_at_once(_: str) -> None:
    """Do nothing before an answer: the default hook."""


def make_chat_request(text: str, step: str = "", about: str = "") -> ChatRequest:
    """Make a request for a step, which a model server knows by its schema's name. `about` tells runs apart."""
    schema = ResponseSchema(name=step, schema={"type": "object", "properties": {}}) if step else None
    messages = (Message(role=ChatRole.SYSTEM, content=about), Message(role=ChatRole.USER, content=text))
    return ChatRequest(messages=messages[not about :], response_schema=schema, max_tokens=100)


@dataclass
class ToyModel:
    """A model that answers `re: <last message>` and keeps its requests. `hook` is awaited with the message before each answer."""

    name: str = "toy"
    hook: Hook = answer_at_once
    asked: list[str] = field(default_factory=list)
    answered: list[str] = field(default_factory=list)

    async def complete(self, request: ChatRequest) -> Completion:
        message = request.messages[-1].content
        self.asked.append(message)
        await self.hook(message)
        self.answered.append(message)
        return Completion(text=f"re: {message}", model=self.name, usage=Usage(model_calls=1, input_tokens=100, output_tokens=10))


TEXT = "".join(f"President number {n} said that tariffs were reason number {n}. " for n in range(1, 40))
SOURCE = Source(url="https://example.org/tariffs", title="Messages", snapshot=snapshot_hash(TEXT))


@dataclass
class ToyIndex:
    """One document; a query finds the sentence that its hash points at."""

    searched: list[str] = field(default_factory=list)
    hook: Hook = answer_at_once

    async def search(self, query: str, limit: int, where: SearchFilter) -> Sequence[Passage]:
        self.searched.append(query)
        await self.hook(query)
        number = int(hashlib.sha256(query.encode()).hexdigest(), 16) % 39 + 1
        sentence = f"President number {number} said that tariffs were reason number {number}."
        start = TEXT.index(sentence)
        return [Passage(source=SOURCE, text=sentence, start=start, end=start + len(sentence))]

    async def compare(self, query: str, texts: Sequence[str]) -> tuple[float, ...]:
        return ()

    async def rate(self, question: str, texts: Sequence[str]) -> tuple[float, ...]:
        return ()

    async def read(self, url: str, tenant: str | None = None, collections: Sequence[str] = ()) -> Document:
        if url != SOURCE.url:
            raise ToolError("no such page")
        return Document(source=SOURCE, text=TEXT)

    async def describe(self, where: SearchFilter) -> list[CollectionDescription]:
        return [CollectionDescription(name="toys", kind="folder", own=False, documents=1, languages={"en": 1})]

    async def get_snapshot(self, name: str, tenant: str | None = None) -> str:
        await self.hook(name)
        if name != SOURCE.snapshot:
            raise NotFound("no such source")
        return TEXT


@dataclass
class ToyTool:
    """A tool that counts its calls."""

    name: str = "search"
    description: str = "finds"
    parameters: Mapping[str, Any] = field(default_factory=dict)
    called: list[str] = field(default_factory=list)

    async def call(self, arguments: Mapping[str, Any]) -> ToolResult:
        self.called.append(str(arguments))
        if arguments.get("query") == "bad":
            raise ToolError("a bad query")
        return ToolResult()


def make_toy_agents(subtasks: int = 3, turns: int = 3, sections: int = 3, chain: bool = False) -> AgentSet:
    """Make agents with `subtasks` (in a row with `chain`), searches of `turns`, and `sections` in parallel."""

    async def plan(query: ResearchQuery, kit: Kit) -> ResearchPlan:
        await kit.record.ask(
            "plan", "plan", kit.chat, make_chat_request(f"plan {query.question} {_join_notes(kit)}", "plan", query.question)
        )
        return make_toy_plan(subtasks, chain)

    async def search(subtask: Subtask, plan: ResearchPlan, query: ResearchQuery, kit: Kit) -> Finding:
        agent, quotes, stop = f"search/{subtask.id}", [], StopReason.SUFFICIENT
        try:
            for turn in range(turns):
                await kit.record.ask(
                    agent,
                    "act",
                    kit.chat,
                    make_chat_request(f"{subtask.id} turn {turn} {_join_notes(kit)}", "act", query.question),
                )
                call = ToolCall(name="search", arguments={"query": f"{subtask.id} {turn}"})
                result = await kit.record.use(agent, kit.tools["search"], call)
                quotes += [Quote(source=p.source, text=p.text, start=p.start, end=p.end) for p in result.passages]
        except BudgetSpent as spent:
            stop = spent.reason
        return Finding(subtask_id=subtask.id, answer=f"answer {subtask.id}", quotes=tuple(dict.fromkeys(quotes)), stop=stop)

    async def report(query: ResearchQuery, plan: ResearchPlan, findings: tuple[Finding, ...], kit: Kit) -> Report:
        stops = ", ".join(f"{f.subtask_id}:{f.stop}" for f in findings)
        await kit.record.ask(
            "report", "outline", kit.chat, make_chat_request(f"outline of {stops} {_join_notes(kit)}", "outline", query.question)
        )

        async def write(number: int) -> Section:
            agent = f"report/section/{number}"
            drafted = await kit.record.ask(
                agent, "section", kit.chat, make_chat_request(f"section {number} draft", "section", query.question)
            )
            revised = await kit.record.ask(
                agent, "section", kit.chat, make_chat_request(f"section {number} revised", "section", query.question)
            )
            cited = "".join(f" [[{quote.key}]]" for f in findings for quote in f.quotes[:1])
            return Section(heading=f"Section {number}", body=f"{drafted.text}. {revised.text}.{cited}")

        written = await gather_all([write(n) for n in range(1, sections + 1)], sections)
        quotes = tuple({quote.key: quote for f in findings for quote in f.quotes}.values())
        return Report(title=f"On {query.question}", sections=tuple(written), quotes=quotes, notices=_list_notices(findings))

    return AgentSet(plan=plan, search=search, report=report)


def make_toy_plan(subtasks: int, chain: bool = False) -> ResearchPlan:
    """Make a plan with subtasks s1, s2, ..."""
    return ResearchPlan(
        title="A plan",
        subtasks=tuple(
            Subtask(
                id=f"s{n}", title=f"Part {n}", question=f"Question {n}?", depends_on=(f"s{n - 1}",) if chain and n > 1 else ()
            )
            for n in range(1, subtasks + 1)
        ),
    )


def make_quoting_toys() -> AgentSet:
    """Make agents that need no model."""

    async def plan(query: ResearchQuery, kit: Kit) -> ResearchPlan:
        return make_toy_plan(1)

    async def search(subtask: Subtask, plan: ResearchPlan, query: ResearchQuery, kit: Kit) -> Finding:
        return Finding(subtask_id=subtask.id, stop=StopReason.NO_EVIDENCE)

    async def report(query: ResearchQuery, plan: ResearchPlan, findings: tuple[Finding, ...], kit: Kit) -> Report:
        quotes = tuple({quote.key: quote for f in findings for quote in f.quotes}.values())
        body = " ".join(f"{quote.text} [[{quote.key}]]" for quote in quotes)
        stops = ", ".join(f"{f.subtask_id}:{f.stop}" for f in findings)
        return Report(
            title="Extracts",
            sections=(Section(heading=stops or "Nothing", body=body),),
            quotes=quotes,
            notices=("made of quotations", *_list_notices(findings)),
        )

    return AgentSet(plan=plan, search=search, report=report)


def _join_notes(kit: Kit) -> str:
    return " ".join(entry.text for entry in kit.memory.entries if entry.agent == "user")


def _list_notices(findings: Sequence[Finding]) -> tuple[str, ...]:
    return tuple(f"{f.subtask_id} failed: {f.detail}" for f in findings if f.stop is StopReason.FAILED)


class Gate:
    """A hook that stops at messages that begin with given words, until it is opened. It counts who stopped and who gave up."""

    def __init__(self, *words: str) -> None:
        self._words = words
        self._open = asyncio.Event()
        self.reached = asyncio.Event()
        self.stopped = self.gave_up = 0

    async def __call__(self, message: str) -> None:
        if message.startswith(self._words):
            self.stopped += 1
            self.reached.set()
            try:
                await self._open.wait()
            except asyncio.CancelledError:
                self.gave_up += 1
                raise

    def open(self) -> None:
        self._open.set()

    def shut(self) -> None:
        self._open.clear()
