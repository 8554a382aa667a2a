"""Changes since a report was written: sources, passages, and claims that no longer hold."""

from enum import StrEnum

from app.domain.claims import Support
from app.domain.value import Value


class ShownWords(Value):
    """Words of a source, as a reader sees them."""

    title: str
    url: str
    text: str


class PassageChange(Value):
    """A cited passage that its source no longer has. `after` is the text in its place, where that is known."""

    before: ShownWords
    after: ShownWords | None = None


class FallReason(StrEnum):
    """The reason why an old claim no longer holds: new evidence opposes it, its passage has changed, or its source is gone."""

    OPPOSED = "opposed"
    CHANGED = "changed"
    GONE = "gone"


class FallenClaim(Value):
    """An old claim, the words it rested on, and what stands against it or in its place. `support` is its grade now."""

    claim: str
    why: FallReason
    support: Support
    before: tuple[ShownWords, ...]
    after: tuple[ShownWords, ...] = ()


class NewClaim(Value):
    """A claim of the new report that rests on evidence the old one did not have."""

    claim: str
    quotes: tuple[ShownWords, ...]


class ReportChanges(Value):
    """The changes that a rerun found."""

    new_sources: tuple[ShownWords, ...] = ()
    vanished_sources: tuple[ShownWords, ...] = ()
    passages: tuple[PassageChange, ...] = ()
    fallen: tuple[FallenClaim, ...] = ()
    new_claims: tuple[NewClaim, ...] = ()

    def without_sources(self) -> "ReportChanges":
        """Return the claims that fell and those that are new, which are sentences of reports, without words of sources."""
        return ReportChanges(
            fallen=tuple(claim.model_copy(update={"before": (), "after": ()}) for claim in self.fallen),
            new_claims=tuple(claim.model_copy(update={"quotes": ()}) for claim in self.new_claims),
        )

    @property
    def is_empty(self) -> bool:
        """True when nothing has changed."""
        return not (self.new_sources or self.vanished_sources or self.passages or self.fallen or self.new_claims)
