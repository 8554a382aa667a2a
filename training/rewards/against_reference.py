"""MindDR's citation reward (Eq. 10), which compares a report's citations with the number of citations in a reference report."""

from collections.abc import Iterable
from dataclasses import dataclass

ENOUGH, POOR, TOO_FEW = 0.1, -0.1, -1.0
SHARE_PERCENT = 70


@dataclass(frozen=True, slots=True)
class CountedCitation:
    """A citation of a report: its sentence, the source it names, and how relevant the two are to each other."""

    sentence: str
    source: str
    relevance: float


def count_citations(citations: Iterable[CountedCitation], threshold: float) -> tuple[int, int]:
    """Count the distinct citations, and those of them that are valid: more relevant than `threshold`."""
    distinct: dict[tuple[str, str], float] = {}
    for citation in citations:
        place = (" ".join(citation.sentence.split()).casefold(), citation.source)
        distinct[place] = max(citation.relevance, distinct.get(place, citation.relevance))
    return len(distinct), sum(relevance > threshold for relevance in distinct.values())


def reference_citation_reward(generated: int, valid: int, reference: int) -> float:
    """Return the reward of Eq. 10.

    Where the reference cites nothing, any number of citations is enough, and all of them must be valid (ADR 0044).
    """
    if reference == 0:
        return ENOUGH if valid == generated else POOR
    if 100 * generated < SHARE_PERCENT * reference:
        return TOO_FEW
    return ENOUGH if 100 * valid >= SHARE_PERCENT * reference else POOR
