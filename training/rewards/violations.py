"""The kinds of violation of a report (MindDR Eq. 11): its enclosing tag, its Markdown, its citations."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from training.rewards.cited_claims import ids_of
from training.rewards.sameness import has_words
from training.rewards.structure import violations_reward
from training.rewards.transcript import Transcript
from workflows.agents.passage_ids import citation_pattern_of, list_cited_passages
from workflows.checks.citation_format import find_citation_faults
from workflows.checks.markdown_faults import find_markdown_faults
from workflows.checks.tables import find_tables

_SPAN = re.compile(r'<cite\s+id\s*=\s*"([^"<>]*)"\s*>([^<]*)</cite>')


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


def violations_of(transcript: Transcript, ids: Sequence[str] = ()) -> Violations:
    """Return the violations of a transcript's answer. An answer without words has all three.

    `ids` are those that the policy was shown, and asked to cite as `[p1]` or `<cite id="p1">`: such a citation is none of the
    writer's own notations, since rendering makes a number of it.
    """
    return find_violations(transcript.answer, ids)


def find_violations(report: str, ids: Sequence[str] = ()) -> Violations:
    """Return the violations of a report that stood in its tag."""
    answer = number_citations(report, ids)
    if not has_words(answer):
        return Violations(tag=True, markdown=True, references=True)
    return Violations(tag=False, markdown=has_markdown_faults(answer), references=bool(find_citation_faults(answer)))


def number_citations(draft: str, ids: Sequence[str]) -> str:
    """Replace the citations of a draft by numbers, as rendering does. One with an unknown id stays as it is."""
    numbers = {name: str(number) for number, name in enumerate(ids, 1)}

    def number(names: Sequence[str], otherwise: str, text: str = "") -> str:
        return f"{text}[{', '.join(numbers[name] for name in names)}]" if names and set(names) <= numbers.keys() else otherwise

    spans = _SPAN.sub(lambda found: number(ids_of(found[1]), found[0], f"{found[2]} "), draft)
    return citation_pattern_of(spans).sub(lambda found: number(list_cited_passages(found[0]), found[0]), spans)


def has_markdown_faults(text: str) -> bool:
    """Say whether a table, a numbered list or a block of code has a fault that spoils how it is shown."""
    return any(table.faults for table in find_tables(text)) or bool(find_markdown_faults(text))
