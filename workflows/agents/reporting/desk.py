"""What the steps of report writing share: the question, the findings, the evidence, and how a failing step is survived."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from app.domain.chat import Message
from app.domain.errors import ModelError
from app.domain.evidence import Finding
from app.domain.memory import MemoryKind, SharedMemory
from app.domain.plan import ResearchPlan
from app.domain.query import ResearchQuery
from app.domain.run import EventType
from workflows.agents.asking import Asker
from workflows.agents.kit import Kit
from workflows.agents.memory_text import memory_as_text
from workflows.agents.ports import BudgetSpent
from workflows.agents.reporting.book import QuoteBook
from workflows.agents.steps import Answer, Step
from workflows.agents.wishes import WITH_WISHES, wishes_of, with_wishes
from workflows.agents.wording import say

A = TypeVar("A", bound=Answer)


@dataclass
class Desk:
    """One report under way. `failures` are steps that the model did not do, for the reader's notices."""

    kit: Kit
    query: ResearchQuery
    plan: ResearchPlan
    findings: tuple[Finding, ...]
    book: QuoteBook
    asker: Asker
    budget_spent: bool = False
    removed_citations: int = 0
    failures: dict[tuple[str, str], str] = field(default_factory=dict)

    @property
    def default_title(self) -> str:
        """The plan's title, else one made of the question."""
        question = " ".join(self.query.question.split())[:160]
        return self.plan.title or say("report_on", self.kit.language, question=question)

    def frame(self) -> dict[str, str]:
        """What every prompt of the report agent begins with. Notes are the only part of the memory not shown elsewhere."""
        language = self.kit.language
        notes = SharedMemory(entries=tuple(e for e in self.kit.memory.entries if e.kind is MemoryKind.NOTE))
        notes = with_wishes(notes, self.query, language)
        return {
            "today": self.kit.today.isoformat(),
            "question": self.query.question,
            "intent": self.plan.intent or say("none", language),
            "notes": memory_as_text(notes, language),
        }

    def render(self, name: str, **values: str) -> tuple[Message, ...]:
        """A prompt of the report agent with its frame. A reader with wishes gets the version that has room for them, unless the
        writer's settings name another."""
        prompts, language = self.kit.prompts, self.kit.language
        wishes = wishes_of(self.query.style, language)
        prompt = prompts.get(name, language, WITH_WISHES if wishes and not prompts.chosen(name) else "")
        room = {"wishes": wishes or say("none", language)} if "wishes" in prompt.names else {}
        return prompt.render(**self.frame(), **values, **room)

    async def ask(self, asker: Asker, step: Step[A], messages: Sequence[Message], what: str) -> A | None:
        """A step's answer, or None when there is none to be had; the report goes on without it and says so."""
        if self.budget_spent:
            return None
        try:
            return (await asker.ask(step, messages)).answer
        except BudgetSpent:
            self.budget_spent = True
        except ModelError as error:
            await self.fail(asker.agent, what, str(error))
        return None

    def failed(self) -> list[tuple[str, str]]:
        """What the model did not do, and why, in an order that does not depend on which writer ended first."""
        ordered = sorted(self.failures.items(), key=lambda item: (len(item[0][0]), item[0]))
        return [(what, detail) for (_, what), detail in ordered]

    async def fail(self, agent: str, what: str, detail: str) -> None:
        """Note that the model did not do this."""
        self.failures[agent, what] = detail
        message = say("writer_failed", self.kit.language, what=what, detail=detail)
        await self.kit.record.tell(EventType.WARNING, agent, {"message": message})
