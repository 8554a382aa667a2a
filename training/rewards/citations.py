"""The citation reward of DeepRubric, appendix A.4, Eq. 9 to 14.

The paper leaves some cases open, and rewards some tricks. ADR 0042 decides them; `published` asks for the paper's form:

- Precision is the share of a claim's ids that are relevant; at most three are looked at. As published, all cited texts are
  judged as one, so that an id costs nothing.
- A cited id that does not exist lowers precision and validity. Its claim stays a cited one.
- The mean is over sentences by their different words; a repeated sentence counts once. As published, it is over claims.
- A sentence that needs no citation is left out of the mean. The paper counts it as perfect, which rewards filler.
- 0/0 in Eq. 11 is 0. Without citations the format part is 0. One citation has no span.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from statistics import fmean

from app.domain.missing import Missing
from app.domain.script import count_ideographs
from retrieval.language.tokens import split_units
from training.rewards.cited_claims import MOST_SOURCES, CitedClaim
from training.rewards.sameness import statement_key_of
from training.rewards.score import Score, require_present

FULL_SPAN = 0.6
ENOUGH_CITATIONS = 6
LEAST_UNITS, LEAST_CHARS = 4, 18
CONTENT, FORMAT = 0.6, 0.4


class Recall(float, Enum):
    """How far the cited texts support a claim (Eq. 9)."""

    FULL = 1.0
    PARTIAL = 0.5
    NONE = 0.0


@dataclass(frozen=True, slots=True)
class CitedVerdict:
    """The judges' verdict on a claim that cites at least one existing text: its support, and the number of relevant ids."""

    recall: Recall
    relevant: int


@dataclass(frozen=True, slots=True)
class UncitedVerdict:
    """The judges' verdict on a claim without a citation: whether it needs one."""

    needs_citation: bool


Verdict = CitedVerdict | UncitedVerdict | Missing


def f1(recall: float, precision: float) -> float:
    """Return the F1 of Eq. 11; 0 where both values are 0."""
    return 2 * recall * precision / (recall + precision) if recall + precision else 0.0


def judged_groups_of(claim: CitedClaim, store: Collection[str], published: bool = False) -> list[list[str]]:
    """Return the existing ids that are looked at, in the groups whose texts are judged for relevance as one."""
    known = [name for name in claim.ids if name in store]
    if published:
        return [known] if known else []
    return [[name] for name in known[:MOST_SOURCES]]


def claim_f1(claim: CitedClaim, verdict: Verdict | None, store: Collection[str], published: bool = False) -> Score | None:
    """Return a claim's F1; None for a claim that is left out of the mean.

    A claim whose ids are all invented has 0 and needs no verdict.

    Raises:
        ValueError: the verdict is of another kind of claim, or calls more ids relevant than were looked at.
    """
    judged = sum(map(len, judged_groups_of(claim, store, published)))
    if claim.cited and not judged:
        return 0.0
    if isinstance(verdict, Missing):
        return verdict
    if claim.cited:
        if not isinstance(verdict, CitedVerdict) or not 0 <= verdict.relevant <= judged:
            raise ValueError(f"a cited claim needs a CitedVerdict on at most {judged} ids, not {verdict!r}")
        return f1(verdict.recall.value, verdict.relevant / len(claim.ids))
    if not isinstance(verdict, UncitedVerdict):
        raise ValueError(f"an uncited claim needs an UncitedVerdict, not {verdict!r}")
    if verdict.needs_citation:
        return 0.0
    return 1.0 if published else None


def mean_f1(
    claims: Sequence[CitedClaim], verdicts: Sequence[Verdict | None], store: Collection[str], published: bool = False
) -> Score:
    """Return the mean of Eq. 12 over the claims that count; 0 when none does.

    A sentence weighs as much as it has different words, and so does each claim within it, so that neither repeating a sentence
    nor cutting or joining sentences moves the mean.
    """
    scored = [claim_f1(claim, verdict, store, published) for claim, verdict in zip(claims, verdicts, strict=True)]
    counted = [(claim, value) for claim, value in zip(claims, scored, strict=True) if value is not None]
    values = require_present(value for _, value in counted)
    if isinstance(values, Missing):
        return values
    if published or not values:
        return fmean(values or [0.0])
    votes: dict[frozenset[str], list[tuple[float, int]]] = defaultdict(list)
    for (claim, _), value in zip(counted, values, strict=True):
        votes[claim.vote].append((value, len(statement_key_of(claim.text))))
    return fmean([fmean(*zip(*vote, strict=True)) for vote in votes.values()], [len(words) for words in votes])


def validity_of(claims: Sequence[CitedClaim], store: Collection[str]) -> float:
    """Return the share of the cited ids that exist; 0 without citations."""
    cited = {name for claim in claims for name in claim.ids}
    return len([name for name in cited if name in store]) / len(cited) if cited else 0.0


def meaningful_share_of(claims: Sequence[CitedClaim]) -> float:
    """Return the share of the cited claims with at least four words (or ideographs) and 18 characters.

    An ideograph counts as two characters, since it says as much.
    """
    cited = [claim for claim in claims if claim.cited]
    return sum(_says_something(claim.text) for claim in cited) / len(cited) if cited else 0.0


def _says_something(text: str) -> bool:
    return len(text) + count_ideographs(text) >= LEAST_CHARS and len(split_units(text)) >= LEAST_UNITS


def distribution_of(positions: Sequence[float]) -> float:
    """Measure how well citations spread over an answer, from 0 to 1: 0.4 span, 0.4 uniformity, 0.2 centre.

    `positions` has the place (0 to 1) of each distinct valid citation. The paper names the parts; the formulas are ours. Span is
    the range over 0.6, at most 1. Uniformity is 1 minus twice the mean distance to even spacing at (i - 1/2) / n. Centre is 1
    minus twice the distance of the mean to 1/2.

    Raises:
        ValueError: a place is not from 0 to 1.
    """
    if not all(0.0 <= place <= 1.0 for place in positions):
        raise ValueError(f"places must be from 0 to 1: {positions}")
    if not positions:
        return 0.0
    placed, n = sorted(positions), len(positions)
    span = min((placed[-1] - placed[0]) / FULL_SPAN, 1.0)
    uneven = sum(abs(place - (i + 0.5) / n) for i, place in enumerate(placed)) / n
    centre = 1 - 2 * abs(sum(placed) / n - 0.5)
    return 0.4 * span + 0.4 * (1 - 2 * uneven) + 0.2 * centre


def first_positions_of(claims: Sequence[CitedClaim], store: Collection[str], published: bool = False) -> Mapping[str, float]:
    """Return the position at which each existing id that is looked at is cited first."""
    found: dict[str, float] = {}
    for claim in claims:
        for group in judged_groups_of(claim, store, published):
            for name in group:
                found.setdefault(name, claim.position)
    return found


def citation_format_reward(claims: Sequence[CitedClaim], store: Collection[str], published: bool = False) -> float:
    """Return the reward of Eq. 13: validity times meaningful claims, times 0.7 + 0.1 distribution + 0.2 count."""
    placed = first_positions_of(claims, store, published)
    count = min(len(placed) / ENOUGH_CITATIONS, 1.0)
    return (
        validity_of(claims, store)
        * meaningful_share_of(claims)
        * (0.7 + 0.1 * distribution_of(list(placed.values())) + 0.2 * count)
    )


def citation_reward(
    claims: Sequence[CitedClaim], verdicts: Sequence[Verdict | None], store: Collection[str], published: bool = False
) -> Score:
    """Return the reward of Eq. 14, from 0 to 1.

    `verdicts` has one verdict for each claim, and None for a claim that cites only ids that do not exist.
    """
    content = mean_f1(claims, verdicts, store, published)
    if isinstance(content, Missing):
        return content
    return CONTENT * content + FORMAT * citation_format_reward(claims, store, published)
