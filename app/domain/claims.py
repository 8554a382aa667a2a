"""Claims of a report and how well their evidence supports them."""

from enum import StrEnum

from pydantic import Field

from app.domain.value import Value


class Support(StrEnum):
    """What the cited evidence does for a claim. `uncited`: there is none to ask."""

    FULL = "full"
    PARTIAL = "partial"
    NONE = "none"
    CONTRADICTED = "contradicted"
    UNCITED = "uncited"

    @property
    def holds(self) -> bool:
        """Whether a reader may take the claim as the source's word."""
        return self is Support.FULL


class Claim(Value):
    """A sentence of a report with the quotes it rests on and what a judge made of it.

    `section` counts the report's sections from 0; `[start, end)` are the sentence's characters in that section's body. `reason`
    is one line for the reader; `judge` names who graded: `verbatim`, `offline`, `offline+vectors`, `nli` or `model`. `weak` says
    why the claim rests on thin ground, whatever its support: one source, and that a preprint, say; empty when it does not.
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
