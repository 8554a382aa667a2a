"""Which kinds of violation a report has (MindDR Eq. 11): its enclosing tag, its Markdown, its citations."""

from dataclasses import dataclass

from training.rewards.structure import violations_reward
from training.rewards.transcript import Transcript
from workflows.checks.citation_format import citation_faults
from workflows.checks.lists import markdown_faults
from workflows.checks.tables import tables_of


@dataclass(frozen=True, slots=True)
class Violations:
    """The three indicators; each counts once, however often it occurs."""

    tag: bool
    markdown: bool
    references: bool

    @property
    def reward(self) -> int:
        """Eq. 11, from -3 to 0."""
        return violations_reward(self.tag, self.markdown, self.references)


def violations_of(transcript: Transcript) -> Violations:
    """The violations of a transcript's answer. Without one in its tag, there is nothing whose form could be right."""
    answer = transcript.answer
    if not answer:
        return Violations(tag=True, markdown=True, references=True)
    return Violations(tag=False, markdown=markdown_violated(answer), references=bool(citation_faults(answer)))


def markdown_violated(text: str) -> bool:
    """Whether a table, a numbered list or a block of code is not shown as its writer meant it."""
    return any(table.faults for table in tables_of(text)) or bool(markdown_faults(text))
