"""The kinds of violation of a report (MindDR Eq. 11): its enclosing tag, its Markdown, its citations."""

from dataclasses import dataclass

from training.rewards.structure import violations_reward
from training.rewards.transcript import Transcript
from workflows.checks.citation_format import find_citation_faults
from workflows.checks.markdown_faults import find_markdown_faults
from workflows.checks.tables import find_tables


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
    return Violations(tag=False, markdown=has_markdown_faults(answer), references=bool(find_citation_faults(answer)))


def has_markdown_faults(text: str) -> bool:
    """Say whether a table, a numbered list or a block of code has a fault that spoils how it is shown."""
    return any(table.faults for table in find_tables(text)) or bool(find_markdown_faults(text))
