"""The result of checking the report's claims: counts, and the claims that a reader should look at twice."""

from collections import Counter
from collections.abc import Sequence

from rubrica_client.models import Claim
from ui.components.markup import escape
from ui.language import say, say_name

KINDS = ("full", "partial", "none", "contradicted", "unjudged", "uncited")
WORST_LAST = ("full", "unjudged", "uncited", "partial", "none", "contradicted")


def is_doubtful(claim: Claim) -> bool:
    """Return whether a reader should look at the claim twice."""
    return claim.support in ("partial", "none", "contradicted") or bool(claim.weak) or claim.unsourced


def doubt_of(claim: Claim) -> str:
    """Return in a line why the claim is doubtful."""
    return " ".join(part for part in (claim.reason, claim.weak) if part) or say_name("support", claim.support)


def list_claims(claims: Sequence[Claim]) -> list[tuple[int, Claim]]:
    """Return the claims with their numbers. A table's row is one claim, under the number of the cell to look at first."""
    rows: dict[tuple[str, str], list[int]] = {}
    for n, claim in enumerate(claims):
        rows.setdefault((claim.section, claim.row) if claim.row else ("", str(n)), []).append(n)
    return [(_choose_cell(claims, cells), _join_row([claims[n] for n in cells])) for cells in rows.values()]


def _choose_cell(claims: Sequence[Claim], cells: Sequence[int]) -> int:
    return next((n for n in cells if is_doubtful(claims[n])), cells[0])


def _join_row(cells: Sequence[Claim]) -> Claim:
    """Return the claim that the cells of a row make, with the worst support of them and what is doubtful in each."""
    if not cells[0].row:
        return cells[0]
    worst = max(cells, key=lambda cell: WORST_LAST.index(cell.support) if cell.support in WORST_LAST else 0)
    doubts = "; ".join(f"{cell.text}: {doubt_of(cell)}" for cell in cells if is_doubtful(cell))
    citations = tuple(dict.fromkeys(n for cell in cells for n in cell.citations))
    unsourced = any(cell.unsourced for cell in cells)
    joined = {"text": worst.row, "reason": "", "weak": doubts, "citations": citations, "unsourced": unsourced}
    return worst.model_copy(update=joined)


def checked_claims_html(claims: Sequence[Claim]) -> str:
    """Return the counts by support, and the doubtful claims with their reasons, as HTML."""
    listed = list_claims(claims)
    counts = Counter(claim.support for _, claim in listed)
    bar = "".join(f'<i class="{kind}" style="flex:{counts[kind]}"></i>' for kind in KINDS if counts[kind])
    lines = "".join(
        f'<li><i class="{kind}"></i>{counts[kind]} {escape(say_name("support", kind))}</li>' for kind in KINDS if counts[kind]
    )
    items = "".join(_doubt_html(n, claim) for n, claim in listed if is_doubtful(claim))
    return f'<div class="r-claims"><div class="r-shares">{bar}</div><ul class="kinds">{lines}</ul>{_doubts_html(items)}</div>'


def _doubts_html(items: str) -> str:
    if not items:
        return ""
    return f'<h3>{escape(say("read.look_twice"))}</h3><ul class="doubts">{items}</ul>'


def _doubt_html(n: int, claim: Claim) -> str:
    numbers = "".join(f'<button class="r-cite" data-cite="{c}">{c}</button>' for c in claim.citations)
    claim_link = f'<a href="#claim-{n}">{escape(claim.text)}</a>'
    return f'<li class="{escape(claim.support)}">{claim_link} {numbers}<div class="r-quiet">{escape(doubt_of(claim))}</div></li>'
