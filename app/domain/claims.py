"""Claims of a report and how well their evidence supports them."""

from enum import StrEnum

from pydantic import Field

from app.domain.value import Value


class Support(StrEnum):
    """The support that cited evidence gives a claim. `unjudged`: nobody could tell; `uncited`: nothing is cited."""

    FULL = "full"
    PARTIAL = "partial"
    NONE = "none"
    CONTRADICTED = "contradicted"
    UNJUDGED = "unjudged"
    UNCITED = "uncited"

    @property
    def holds(self) -> bool:
        """True when a reader may take the claim as the source's word."""
        return self is Support.FULL


class Claim(Value):
    """A sentence of a report, the quotes it rests on, and a judge's verdict.

    `section` counts the report's sections from 0; `[start, end)` are the sentence's characters in that section's body. `reason`
    is one line for the reader; `judge` names the grader: `verbatim`, `offline`, `nli` or `model` (older reports also name
    `offline+vectors`). `weak` says why the claim rests on thin ground, whatever its support (only one source, a preprint); empty
    when it does not. `unsourced`: nothing that is cited gives its fact, or one of its numbers; `reason` says which.
    """

    text: str
    section: int = Field(ge=0)
    start: int = Field(ge=0)
    end: int = Field(ge=0)
    quote_keys: tuple[str, ...] = ()
    support: Support
    reason: str = ""
    judge: str = ""
    weak: str = ""
    unsourced: bool = False
