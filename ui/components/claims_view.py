"""The result of checking the report's claims: counts, and the claims that a reader should look at twice."""

from collections import Counter
from collections.abc import Sequence

from rubrica_client.models import Claim
from ui.components.markup import text
from ui.language import named, say

KINDS = ("full", "partial", "none", "contradicted", "uncited")


def doubtful(claim: Claim) -> bool:
    """Return whether a reader should look at the claim twice."""
    return claim.support not in ("full", "uncited") or bool(claim.weak)


def why(claim: Claim) -> str:
    """Return in a line why the claim is doubtful."""
    return " ".join(part for part in (claim.reason, claim.weak) if part) or named("support", claim.support)


def claims_html(claims: Sequence[Claim]) -> str:
    """Return the counts by support, and the doubtful claims with their reasons, as HTML."""
    counts = Counter(claim.support for claim in claims)
    bar = "".join(f'<i class="{kind}" style="flex:{counts[kind]}"></i>' for kind in KINDS if counts[kind])
    lines = "".join(
        f'<li><i class="{kind}"></i>{counts[kind]} {text(named("support", kind))}</li>' for kind in KINDS if counts[kind]
    )
    items = "".join(_item(n, claim) for n, claim in enumerate(claims) if doubtful(claim))
    return f'<div class="r-claims"><div class="r-shares">{bar}</div><ul class="kinds">{lines}</ul>{_details(items)}</div>'


def _details(items: str) -> str:
    if not items:
        return ""
    return f'<h3>{text(say("read.look_twice"))}</h3><ul class="doubts">{items}</ul>'


def _item(n: int, claim: Claim) -> str:
    numbers = "".join(f'<button class="r-cite" data-cite="{c}">{c}</button>' for c in claim.citations)
    claim_link = f'<a href="#claim-{n}">{text(claim.text)}</a>'
    return f'<li class="{text(claim.support)}">{claim_link} {numbers}<div class="r-quiet">{text(why(claim))}</div></li>'
