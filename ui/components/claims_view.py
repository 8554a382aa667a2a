"""What a check of the report's claims came to: counts, and the claims a reader should look at twice."""

from collections import Counter
from collections.abc import Sequence

from ui.components.markup import text
from ui.models import Claim

LABELS = {
    "full": "supported",
    "partial": "partly supported",
    "none": "not supported by what they cite",
    "contradicted": "opposed by what they cite",
    "uncited": "without a citation",
}
MOST_LISTED = 40


def claims_html(claims: Sequence[Claim]) -> str:
    """How many claims are supported how well; those that are not, or rest on one weak source, each with the reason."""
    counts = Counter(claim.support for claim in claims)
    lines = "".join(f"<li>{counts[support]} {label}</li>" for support, label in LABELS.items() if counts[support])
    doubtful = [claim for claim in claims if claim.support not in ("full", "uncited") or claim.weak]
    items = "".join(_item(claim) for claim in doubtful[:MOST_LISTED])
    details = f"<details><summary>Look at these twice</summary><ul>{items}</ul></details>" if items else ""
    return f'<div class="r-claims"><ul>{lines}</ul>{details}</div>'


def _item(claim: Claim) -> str:
    numbers = "".join(f"[{n}]" for n in claim.citations)
    why = " ".join(part for part in (claim.reason, claim.weak) if part) or LABELS.get(claim.support, claim.support)
    return f'<li>{text(claim.text)} {numbers}<div class="r-quiet">{text(why)}</div></li>'
