"""Readers' feedback on reports: comparisons and their choices, stars, flagged claims, and the pairs that training reads.

A pair is (query, accepted, rejected) as in "Learning Query-Specific Rubrics from Human Preferences", section 3.2.
"""

from datetime import datetime
from enum import StrEnum
from typing import Self

from pydantic import Field, model_validator

from app.domain.query import ResearchQuery
from app.domain.split import Split
from app.domain.value import Value
from app.domain.writer import ReportLineage

MAX_WORDS = 4_000
"""The limit in characters of a reason in a reader's own words."""


class Dimension(StrEnum):
    """A quality for which a reader may prefer a report (section 3.2 of the paper names these four)."""

    USEFULNESS = "usefulness"
    COHERENCE = "coherence"
    COMPLETENESS = "completeness"
    ALIGNMENT = "alignment"


class CandidatePlace(StrEnum):
    """One of the two candidates: the report its run delivered, or the one made to compare with it."""

    DELIVERED = "delivered"
    ALTERNATIVE = "alternative"

    @property
    def other(self) -> "CandidatePlace":
        """The other candidate."""
        return CandidatePlace.ALTERNATIVE if self is CandidatePlace.DELIVERED else CandidatePlace.DELIVERED


class ShownSide(StrEnum):
    """The side on which a candidate was shown."""

    LEFT = "left"
    RIGHT = "right"

    @property
    def other(self) -> "ShownSide":
        """The other side."""
        return ShownSide.RIGHT if self is ShownSide.LEFT else ShownSide.LEFT


class ChoiceVerdict(StrEnum):
    """A reader's answer in terms of the sides shown."""

    LEFT = "left"
    RIGHT = "right"
    TIE = "tie"
    BOTH_BAD = "both_bad"

    @property
    def side(self) -> ShownSide | None:
        """The preferred side, or None."""
        return ShownSide(self.value) if self in (ChoiceVerdict.LEFT, ChoiceVerdict.RIGHT) else None


class PairOutcome(StrEnum):
    """The same answer in terms of the candidates, which can be compared between readers who saw other sides."""

    DELIVERED = "delivered"
    ALTERNATIVE = "alternative"
    TIE = "tie"
    BOTH_BAD = "both_bad"

    @property
    def place(self) -> CandidatePlace | None:
        """The preferred candidate, or None."""
        return CandidatePlace(self.value) if self in (PairOutcome.DELIVERED, PairOutcome.ALTERNATIVE) else None


class ChoiceReason(Value):
    """The side that was better in one dimension; None: neither."""

    dimension: Dimension
    side: ShownSide | None = None


class Choice(Value):
    """A reader's choice as sent. `strength`: 1 slightly, 2 clearly, 3 far better; only a preference has one.

    `hidden_seconds` is the time that the page was not in view between first view and choice; None: the page does not know.
    """

    verdict: ChoiceVerdict
    strength: int | None = Field(default=None, ge=1, le=3)
    reasons: tuple[ChoiceReason, ...] = Field(default=(), max_length=len(Dimension))
    comment: str = Field(default="", max_length=MAX_WORDS)
    hidden_seconds: float | None = Field(default=None, ge=0, le=10**8)

    @model_validator(mode="after")
    def _check_consistent(self) -> Self:
        if self.verdict.side is None and self.strength is not None:
            raise ValueError("a tie or two bad reports have no strength; leave it out")
        if self.verdict.side is not None and self.strength is None:
            raise ValueError("say how strongly: strength 1 (slightly), 2 (clearly) or 3 (far better)")
        if len({reason.dimension for reason in self.reasons}) < len(self.reasons):
            raise ValueError("give one reason for each dimension at most")
        return self


class Viewing(Value):
    """The way one reader was shown a comparison: drawn once, then the same each time."""

    left: CandidatePlace
    first_viewed_at: datetime
    revealed_at: datetime | None = None

    def place_of(self, side: ShownSide) -> CandidatePlace:
        """Return the candidate shown on this side."""
        return self.left if side is ShownSide.LEFT else self.left.other

    def side_of(self, place: CandidatePlace) -> ShownSide:
        """Return the side on which this candidate was shown."""
        return ShownSide.LEFT if place is self.left else ShownSide.RIGHT

    def outcome_of(self, verdict: ChoiceVerdict) -> PairOutcome:
        """Return the answer in terms of the candidates."""
        return PairOutcome(verdict.value if verdict.side is None else self.place_of(verdict.side).value)


class StoredChoice(Value):
    """A stored choice. `elapsed_seconds` runs from the first view to the first choice, by the server's clock."""

    choice: Choice
    outcome: PairOutcome
    elapsed_seconds: float
    made_at: datetime
    changed_at: datetime
    changes: int = 0

    @property
    def seconds(self) -> float:
        """The time spent, without the time that the page says it was hidden."""
        return max(0.0, self.elapsed_seconds - (self.choice.hidden_seconds or 0.0))


class ComparisonStatus(StrEnum):
    """The state of a comparison: nothing to compare where both reports are the `same`, or where the second one `failed`.

    The comparison's detail says why.
    """

    PREPARING = "preparing"
    READY = "ready"
    SAME = "same"
    FAILED = "failed"


class Rating(Value):
    """One to five stars for a run's report."""

    stars: int = Field(ge=1, le=5)
    comment: str = Field(default="", max_length=MAX_WORDS)


class ClaimFlag(Value):
    """A reader's statement that a claim of a report is wrong. `claim` counts the report's claims from 0."""

    claim: int = Field(ge=0)
    reason: str = Field(min_length=1, max_length=MAX_WORDS)


class JudgedReport(Value):
    """A report that was judged: its text in Markdown with numbered citations, and its lineage."""

    text: str
    digest: str
    lineage: ReportLineage


class Favour(StrEnum):
    """The report of a pair that a dimension speaks for."""

    ACCEPTED = "accepted"
    REJECTED = "rejected"
    NEITHER = "neither"


class PreferencePair(Value):
    """A preference datum: for this query one reader preferred `accepted` to `rejected`, over the same evidence.

    `reader` and `organisation` are pseudonyms, as is `evidence`, which names the run's `RunEvidence`. `reasons` maps a dimension
    to the report it speaks for. `seconds` leaves out `hidden_seconds`, which is None where the page did not know. `split` is the
    side of all pairs of this query; an export that is older than the hold-out has none.
    """

    id: str
    query: ResearchQuery
    evidence_digest: str
    evidence: str = ""
    accepted: JudgedReport
    rejected: JudgedReport
    strength: int
    reasons: dict[Dimension, Favour] = Field(default={})
    comment: str = ""
    accepted_shown: ShownSide
    seconds: float
    hidden_seconds: float | None
    reader: str
    organisation: str = ""
    annotation: bool
    asked_by_reader: bool
    split: Split | None = None


class UndecidedPair(Value):
    """Two reports of which a reader preferred none: a tie, or both bad. They stand in the order of their digests."""

    id: str
    query: ResearchQuery
    evidence_digest: str
    evidence: str = ""
    reports: tuple[JudgedReport, JudgedReport]
    both_bad: bool
    comment: str = ""
    first_shown: ShownSide
    seconds: float
    hidden_seconds: float | None
    reader: str
    organisation: str = ""
    annotation: bool
    asked_by_reader: bool
    split: Split | None = None


class RatedReport(Value):
    """Stars for a report. `digest` is the SHA-256 of the report's stored JSON."""

    id: str
    query: ResearchQuery
    text: str
    digest: str
    lineage: ReportLineage
    stars: int
    comment: str = ""
    reader: str


class FlaggedClaim(Value):
    """A claim of a report that a reader calls wrong. The reason is in the reader's words, and left out unless asked for."""

    id: str
    query: ResearchQuery
    claim: str
    digest: str
    lineage: ReportLineage
    reason: str = ""
    reader: str


class Consent(Value):
    """The consent to training: it needs the organisation's and the person's, each in force since a time."""

    organisation_since: datetime | None = None
    person_since: datetime | None = None

    @property
    def given(self) -> bool:
        """True when both agree now."""
        return self.organisation_since is not None and self.person_since is not None
