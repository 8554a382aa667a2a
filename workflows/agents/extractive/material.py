"""What a report is made of: the quotations of all findings, each once, in the part it serves best."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from app.domain.evidence import Finding
from app.domain.plan import ResearchPlan
from workflows.agents.extractive.novelty import repeats
from workflows.agents.extractive.sentences import Sentence, sentence_of

FIRST_PART_AHEAD = 4
FIRST_PART_CLAIMS = 7
"""The first part, the one nearest the question, claims its best few before others that found the same."""


@dataclass(frozen=True, slots=True)
class Item:
    """A quotation, the part (position in the plan) it is used in, its rank there, in how many parts it was found, its best
    relevance."""

    sentence: Sentence
    part: int
    rank: int
    found: int
    relevance: float | None


@dataclass(frozen=True, slots=True)
class Material:
    """Titles of the plan's parts, the findings in the same order, and the items."""

    titles: tuple[str, ...]
    findings: tuple[Finding, ...]
    items: tuple[Item, ...]

    def of_part(self, part: int) -> list[Item]:
        """The items of one part, best first."""
        return sorted((item for item in self.items if item.part == part), key=lambda item: item.rank)


def material_of(plan: ResearchPlan, findings: Sequence[Finding]) -> Material:
    """Gather and de-duplicate; of two that repeat each other the one that ranks higher stays, of equals the one found earlier."""
    ranked = [
        (rank, part, sentence_of(quote), finding.relevance[rank] if rank < len(finding.relevance) else None)
        for part, finding in enumerate(findings)
        for rank, quote in enumerate(finding.quotes)
    ]
    ranked.sort(
        key=lambda found: (found[0] - (FIRST_PART_AHEAD if found[1] == 0 and found[0] < FIRST_PART_CLAIMS else 0), found[1])
    )
    items: list[Item] = []
    for rank, part, sentence, relevance in ranked:
        same = next((i for i, item in enumerate(items) if _same(item.sentence, sentence)), None)
        if same is None:
            items.append(Item(sentence, part, rank, 1, relevance))
        else:
            kept = items[same]
            items[same] = replace(
                kept, found=kept.found + 1, relevance=max((r for r in (kept.relevance, relevance) if r is not None), default=None)
            )
    titles = {subtask.id: subtask.title for subtask in plan.subtasks}
    return Material(tuple(titles.get(f.subtask_id, f.subtask_id) for f in findings), tuple(findings), tuple(items))


def _same(one: Sentence, other: Sentence) -> bool:
    overlapping = one.source.snapshot == other.source.snapshot and one.start < other.end and other.start < one.end
    return overlapping or repeats(one.term_set, other.term_set)
