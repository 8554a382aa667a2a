"""What the steps of report writing share: the question, the findings, the evidence, and the handling of failed steps."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from app.domain.chat import Message
from app.domain.errors import ModelError
from app.domain.evidence import Finding
from app.domain.plan import ResearchPlan
from app.domain.query import ResearchQuery
from app.domain.run import EventType
from workflows.agents.asker import Asker
from workflows.agents.failures import describe_failure
from workflows.agents.kit import Kit
from workflows.agents.memory import MemoryKind, SharedMemory
from workflows.agents.memory_text import format_memory
from workflows.agents.ports import BudgetSpent
from workflows.agents.quote_book import QuoteBook
from workflows.agents.run_options import STYLED_VERSIONS, add_option_notes, describe_style
from workflows.agents.steps import Step, StepAnswer
from workflows.agents.wording import say

A = TypeVar("A", bound=StepAnswer)


@dataclass
class ReportDesk:
    """The state of one report under way.

    For the reader's notices: `failures` are steps that the model did not do, `left_out` the headings of texts that cite nothing.
    """

    kit: Kit
    query: ResearchQuery
    plan: ResearchPlan
    findings: tuple[Finding, ...]
    book: QuoteBook
    asker: Asker
    budget_spent: bool = False
    removed_citations: int = 0
    failures: dict[tuple[str, str], str] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)

    @property
    def default_title(self) -> str:
        """The plan's title, or else one made from the question."""
        question = " ".join(self.query.question.split())[:160]
        return self.plan.title or say("report_on", self.kit.language, question=question)

    def frame_values(self) -> dict[str, str]:
        """Return the values that every prompt of the report agent has. Of the memory, only the notes are not shown elsewhere."""
        language = self.kit.language
        notes = SharedMemory(entries=tuple(e for e in self.kit.memory.entries if e.kind is MemoryKind.NOTE))
        notes = add_option_notes(notes, self.query, language)
        return {
            "today": self.kit.today.isoformat(),
            "question": self.query.question,
            "intent": self.plan.intent or say("none", language),
            "notes": format_memory(notes, language),
        }

    def render(self, name: str, **values: str) -> tuple[Message, ...]:
        """Render a prompt of the report agent. When the run has a style, use the version that shows it, unless the writer's
        settings name another."""
        prompts, language = self.kit.prompts, self.kit.language
        styled = STYLED_VERSIONS.get(name, "") if self._style and not prompts.is_chosen(name) else ""
        prompt = prompts.get(name, language, styled)
        room = {"wishes": self.wishes} if "wishes" in prompt.names else {}
        return prompt.render(**self.frame_values(), **values, **room)

    @property
    def wishes(self) -> str:
        """The reader's wishes for the report as a prompt shows them."""
        return self._style or say("none", self.kit.language)

    @property
    def _style(self) -> str:
        return describe_style(self.query.style, self.kit.language)

    async def ask(self, asker: Asker, step: Step[A], messages: Sequence[Message], wording: str) -> A | None:
        """Return a step's answer, or None when the model has none; the report then goes on without it and says so.

        `wording` names the sentence that tells the reader of a failure.
        """
        if self.budget_spent:
            return None
        try:
            return (await asker.ask(step, messages)).answer
        except BudgetSpent:
            self.budget_spent = True
        except ModelError as error:
            await self.note_failure(asker.agent, wording, error)
        return None

    def list_failures(self) -> list[str]:
        """Return what the reader is told of failed steps, in an order that does not depend on which writer ended first."""
        return [told for _, told in sorted(self.failures.items(), key=lambda item: (len(item[0][0]), item[0]))]

    async def note_failure(self, agent: str, wording: str, error: ModelError) -> None:
        """Note that the model did not do this step, and warn the run's watchers. `wording` names the sentence that says so."""
        message = say(wording, self.kit.language, detail=describe_failure(error, self.kit.language))
        self.failures[agent, wording] = message
        await self.kit.record.tell(EventType.WARNING, agent, {"message": message})
