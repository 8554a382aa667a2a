"""The kinds of violation of a report (MindDR Eq. 11): its enclosing tag, its Markdown, its citations."""

from dataclasses import dataclass

from training.rewards.structure import violations_reward
from training.rewards.transcript import Transcript
from workflows.checks.citation_format import citation_faults
from workflows.checks.lists import markdown_faults
from workflows.checks.tables import tables_of


@dataclass(frozen=True, slots=True)
class Violations:
    """The three indicators. Each kind counts once, however often it occurs."""

    tag: bool
    markdown: bool
    references: bool

    @property
    def reward(self) -> int:
        """The reward of Eq. 11, from -3 to 0."""
        return violations_reward(self.tag, self.markdown, self.references)


def violations_of(transcript: Transcript) -> Violations:
    """Return the violations of a transcript's answer. An empty answer has all three."""
    answer = transcript.answer
    if not answer:
        return Violations(tag=True, markdown=True, references=True)
    return Violations(tag=False, markdown=markdown_violated(answer), references=bool(citation_faults(answer)))


def markdown_violated(text: str) -> bool:
    """Whether a table, a numbered list or a block of code has a fault that spoils how it is shown."""
    return any(table.faults for table in tables_of(text)) or bool(markdown_faults(text))
