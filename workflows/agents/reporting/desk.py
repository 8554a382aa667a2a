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
from workflows.agents.evidence_book import EvidenceBook
from workflows.agents.failures import describe_failure
from workflows.agents.kit import Kit
from workflows.agents.memory import MemoryKind, SharedMemory
from workflows.agents.ports import BudgetSpent
from workflows.agents.reader_wants import tell_all
from workflows.agents.run_options import add_option_notes, describe_style
from workflows.agents.steps import Step, StepAnswer
from workflows.agents.untrusted import as_data
from workflows.agents.wording import say

A = TypeVar("A", bound=StepAnswer)


@dataclass
class ReportDesk:
    """The state of one report under way.

    For the reader's notices: `failures` are steps that the model did not do, `left_out` the headings of texts that cite nothing.
    `disputed` is what the critical pass found the sources to disagree about, with the ids that disagree.
    """

    kit: Kit
    query: ResearchQuery
    plan: ResearchPlan
    findings: tuple[Finding, ...]
    book: EvidenceBook
    asker: Asker
    budget_spent: bool = False
    removed_citations: int = 0
    failures: dict[tuple[str, str], str] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)
    disputed: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)

    @property
    def default_title(self) -> str:
        """The plan's title, or else one made from the question."""
        question = " ".join(self.query.question.split())[:160]
        return self.plan.title or say("report_on", self.kit.language, question=question)

    @property
    def criteria(self) -> str:
        """The rubric that the report is held to, as a prompt shows it; empty without one."""
        return "\n".join(f"- {as_data(text)}" for text in self.kit.memory.texts_of(MemoryKind.CRITERION))

    @property
    def notes(self) -> str:
        """What the reader noted, as a prompt shows it; empty without any. The rest of the memory is shown elsewhere."""
        notes = SharedMemory(entries=tuple(e for e in self.kit.memory.entries if e.kind is MemoryKind.NOTE))
        told = add_option_notes(notes, self.query, self.kit.language)
        return "\n".join(f"- {as_data(text)}" for text in told.texts_of(MemoryKind.NOTE))

    @property
    def wishes(self) -> str:
        """The reader's wishes for the report as a prompt shows them."""
        return describe_style(self.query.style, self.kit.language) or say("as_asked", self.kit.language)

    @property
    def length_set(self) -> bool:
        """Whether the reader chose a length; else what the reader wants decides it."""
        return self.query.style is not None and self.query.style.length is not None

    @property
    def words(self) -> int:
        """The usual length of the whole report, in words."""
        return self.kit.bounds.sections * self.kit.bounds.section_words

    def render(self, name: str, **values: str) -> tuple[Message, ...]:
        """Render a prompt of the report agent in its version, with the values that this version has room for."""
        prompt, language = self.kit.prompts.get(name, self.kit.language), self.kit.language
        frame = {
            "today": self.kit.today.isoformat(),
            "question": self.query.question,
            "intent": tell_all(self.plan, language) or say("none", language),
            "notes": self.notes or say("none", language),
            "wishes": self.wishes,
            "criteria": self.criteria or say("none", language),
        }
        return prompt.render(**{name: value for name, value in (frame | values).items() if name in prompt.names})

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
