"""Mark claims: † not supported by what is cited, ‡ opposed by it, ¶ with a fact or number that nothing cited gives; on the page
also those partly or thinly supported.

While bodies are numbered and cleaned, a pair of private-use characters around the claim's number holds the mark's place.
"""

import html
import re
from collections.abc import Sequence

from app.domain.claims import Claim, Support
from app.domain.report import Report

OPEN, CLOSE = "\ue000", "\ue001"
PLACE = re.compile(rf"{OPEN}(\d+){CLOSE}")
TEXT_MARKS = {Support.NONE: "†", Support.CONTRADICTED: "‡"}
PAGE_MARKS = {**TEXT_MARKS, Support.PARTIAL: "◦"}
UNSOURCED, WEAK = "¶", "△"


def add_places(report: Report) -> list[str]:
    """Return the bodies with a place behind each claim that gets a mark somewhere."""
    bodies = [section.body.replace(OPEN, " ").replace(CLOSE, " ") for section in report.sections]
    for number, claim in sorted(enumerate(report.claims), key=lambda item: -item[1].end):
        if claim.support in PAGE_MARKS or claim.weak or claim.unsourced:
            body = bodies[claim.section]
            bodies[claim.section] = f"{body[: claim.end]}{OPEN}{number}{CLOSE}{body[claim.end :]}"
    return bodies


def remove_places(body: str) -> str:
    """Return the body without places."""
    return PLACE.sub("", body)


def mark_text(body: str, claims: Sequence[Claim]) -> str:
    """Return the body with marks for Markdown: only where the reader needs a warning."""
    return PLACE.sub(lambda match: text_mark_of(claims[int(match.group(1))]), body)


def text_mark_of(claim: Claim) -> str:
    """Return the mark of a claim in forms without colour; empty if the reader needs no warning."""
    return TEXT_MARKS.get(claim.support, UNSOURCED if claim.unsourced else "")


def mark_page(prose: str, claims: Sequence[Claim]) -> str:
    """Return clean HTML with its marks; a mark shows its reason under the pointer."""

    def mark(match: re.Match[str]) -> str:
        claim = claims[int(match.group(1))]
        sign = text_mark_of(claim) or PAGE_MARKS.get(claim.support, WEAK)
        kind = "unsourced" if sign == UNSOURCED else claim.support.value if claim.support in PAGE_MARKS else "weak"
        title = html.escape(" ".join(part for part in (claim.reason, claim.weak) if part))
        return f'<span class="claim {kind}" tabindex="0" title="{title}" aria-label="{title}">{sign}</span>'

    return PLACE.sub(mark, prose)
