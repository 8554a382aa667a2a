"""MindDR's citation reward (Eq. 10), which compares a report's citations with the number of citations in a reference report.

As published, it asks for valid citations but not for few invalid ones, does not say what one citation is, and pays for none at
all where the reference has none. ADR 0042: what is said again is one citation, a sentence has at most three, seven tenths of all
citations must be valid, and nothing cited earns nothing. `published` leaves these out.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from math import isfinite

from training.rewards.bracketed_claims import bracketed_claims_of
from training.rewards.cited_claims import MOST_SOURCES
from training.rewards.sameness import statement_key_of

ENOUGH, NONE, POOR, TOO_FEW = 0.1, 0.0, -0.1, -1.0
SHARE_PERCENT = 70


@dataclass(frozen=True, slots=True)
class CountedCitation:
    """A citation of a report: its sentence, the source it names, and how relevant the two are to each other.

    Raises:
        ValueError: the relevance is NaN or infinite.
    """

    sentence: str
    source: str
    relevance: float

    def __post_init__(self) -> None:
        if not isfinite(self.relevance):
            raise ValueError(f"a relevance must be a number, not {self.relevance}")


def list_citations(draft: str) -> list[tuple[str, str]]:
    """Return the statements of a draft with each id that they cite, as `[p1]` or in a span."""
    return [(claim.text, name) for claim in bracketed_claims_of(draft) for name in claim.ids]


def count_citations(citations: Iterable[CountedCitation], threshold: float, published: bool = False) -> tuple[int, int]:
    """Count the citations, and those of them that are valid: more relevant than `threshold`."""
    if published:
        relevances = [citation.relevance for citation in citations]
    else:
        relevances = [relevance for one in _group_citations(citations) for relevance in one.values()]
    return len(relevances), sum(relevance > threshold for relevance in relevances)


def _group_citations(citations: Iterable[CountedCitation]) -> Iterable[dict[str, float]]:
    """Return the relevance of each statement's first sources; the best one where a source is named again."""
    found: dict[Hashable, dict[str, float]] = defaultdict(dict)
    for citation in citations:
        sources = found[statement_key_of(citation.sentence)]
        if citation.source in sources or len(sources) < MOST_SOURCES:
            sources[citation.source] = max(citation.relevance, sources.get(citation.source, citation.relevance))
    return found.values()


def reference_citation_reward(generated: int, valid: int, reference: int, published: bool = False) -> float:
    """Return the reward of Eq. 10.

    Raises:
        ValueError: a count is negative, or more citations are valid than there are.
    """
    if not 0 <= valid <= generated or not reference >= 0:
        raise ValueError(f"{valid} valid of {generated} citations, {reference} in the reference: no counts")
    if 100 * generated < SHARE_PERCENT * reference:
        return TOO_FEW
    if not generated and not published:
        return NONE
    asked = reference if published else max(reference, generated)
    return ENOUGH if 100 * valid >= SHARE_PERCENT * asked else POOR
