"""The result of checking the report's claims: counts, and the claims that a reader should look at twice."""

from collections import Counter
from collections.abc import Sequence

from rubrica_client.models import Claim
from ui.components.markup import escape
from ui.language import say, say_name

KINDS = ("full", "partial", "none", "contradicted", "unjudged", "uncited")


def is_doubtful(claim: Claim) -> bool:
    """Return whether a reader should look at the claim twice."""
    return claim.support in ("partial", "none", "contradicted") or bool(claim.weak) or claim.unsourced


def doubt_of(claim: Claim) -> str:
    """Return in a line why the claim is doubtful."""
    return " ".join(part for part in (claim.reason, claim.weak) if part) or say_name("support", claim.support)


def checked_claims_html(claims: Sequence[Claim]) -> str:
    """Return the counts by support, and the doubtful claims with their reasons, as HTML."""
    counts = Counter(claim.support for claim in claims)
    bar = "".join(f'<i class="{kind}" style="flex:{counts[kind]}"></i>' for kind in KINDS if counts[kind])
    lines = "".join(
        f'<li><i class="{kind}"></i>{counts[kind]} {escape(say_name("support", kind))}</li>' for kind in KINDS if counts[kind]
    )
    items = "".join(_doubt_html(n, claim) for n, claim in enumerate(claims) if is_doubtful(claim))
    return f'<div class="r-claims"><div class="r-shares">{bar}</div><ul class="kinds">{lines}</ul>{_doubts_html(items)}</div>'


def _doubts_html(items: str) -> str:
    if not items:
        return ""
    return f'<h3>{escape(say("read.look_twice"))}</h3><ul class="doubts">{items}</ul>'


def _doubt_html(n: int, claim: Claim) -> str:
    numbers = "".join(f'<button class="r-cite" data-cite="{c}">{c}</button>' for c in claim.citations)
    claim_link = f'<a href="#claim-{n}">{escape(claim.text)}</a>'
    return f'<li class="{escape(claim.support)}">{claim_link} {numbers}<div class="r-quiet">{escape(doubt_of(claim))}</div></li>'
