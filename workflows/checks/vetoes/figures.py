"""Vetoes of numbers, dates and their limits: each must stand in the evidence with its unit, and with what it counts."""

from collections.abc import Sequence

from app.domain.script import is_ideograph
from retrieval.language.quantities import Quantity, QuantityKind
from workflows.checks.vetoes.alignment import ClaimPart
from workflows.checks.vetoes.contexts import CLEARLY_NEARER, measure_context
from workflows.checks.vetoes.lists import load_lists
from workflows.checks.vetoes.reasons import Veto, VetoReason
from workflows.checks.vetoes.texts import CheckedText

DATES = frozenset({QuantityKind.YEAR, QuantityKind.MONTH, QuantityKind.DAY})
DATE_GAP = 3
ROUGHLY = 0.05
SHARE_TOLERANCE = 0.35
BOUND_REACH = {False: 16, True: 5}
LOWER, UPPER, ABOUT, EXACT = "at_least", "at_most", "about", "exactly"


def check_figures(claim: CheckedText, part: ClaimPart, everything: Sequence[CheckedText]) -> Veto | None:
    """Return a veto if a quantity of the part is not in its sentence (or, as a date, in the title or another sentence)."""
    for own in claim.quantities:
        if not part.start <= own.start < part.end:
            continue
        units = {other.unit for other in part.sentence.quantities}
        here = [q for q in part.sentence.quantities if _agree(own, q, claim) or (own.unit in units and _agree_bare(own, q))]
        anywhere = here or [other for text in everything for other in text.quantities if _agree(own, other, claim)]
        words = claim.text[own.start : own.end].strip()
        if not anywhere or (not here and own.kind is QuantityKind.AMOUNT):
            return Veto(VetoReason.NUMBER, words)
        if here and not any(_bounds_agree(claim, own, part.sentence, other) for other in here):
            return Veto(VetoReason.BOUND, words)
        if here and not _continues_date(own, claim) and _fits_another(own, here, claim, part):
            return Veto(VetoReason.NUMBER_ELSEWHERE, words)
    return None


def _continues_date(own: Quantity, claim: CheckedText) -> bool:
    """Whether a part of a date follows another part of it, with which it was checked."""
    return own.kind in DATES and any(q.kind in DATES and 0 <= own.start - q.end <= DATE_GAP for q in claim.quantities)


def _agree(own: Quantity, other: Quantity, claim: CheckedText) -> bool:
    plain = {own.kind, other.kind} == {QuantityKind.YEAR, QuantityKind.AMOUNT} and not own.unit and not other.unit
    if own.kind is not other.kind and not plain:
        return False
    if own.unit != other.unit and own.unit:
        return False
    if own.unit == "" and other.unit == "%":
        return False
    gap = abs(own.value - other.value)
    if own.unit == "%" and gap <= SHARE_TOLERANCE:
        return True
    rough = own.kind is QuantityKind.AMOUNT and bound_of(claim, own) == ABOUT
    return gap <= (ROUGHLY if rough else 1e-9) * max(abs(own.value), abs(other.value))


def _agree_bare(own: Quantity, other: Quantity) -> bool:
    """Whether a number without a unit, beside one that has it, is this one: 4.2 million tonnes, up from 3.1 million."""
    return own.kind is other.kind and bool(own.unit) and not other.unit and own.written == other.value


def bound_of(text: CheckedText, quantity: Quantity) -> str:
    """Return the kind of limit that the words beside a quantity give it; empty without one."""
    if quantity.kind is not QuantityKind.AMOUNT:
        return ""
    lists, lower = load_lists(), text.text.lower()
    reach = BOUND_REACH[any(map(is_ideograph, lower[max(0, quantity.start - 2) : quantity.end + 2]))]
    before, after = lower[max(0, quantity.start - reach) : quantity.start], lower[quantity.end : quantity.end + reach]
    found = [(hit.end(), name) for name in (UPPER, LOWER, ABOUT, EXACT) for hit in lists.bounds[name].finditer(before)]
    if found and max(found)[0] >= len(before.rstrip(" $€£¥")) - 4:
        return max(found)[1]
    for name, bound in (("above_after", LOWER), ("below_after", UPPER), ("about", ABOUT)):
        if lists.bounds[name].match(after.lstrip()[:10]):
            return bound
    return ""


def _bounds_agree(claim: CheckedText, own: Quantity, sentence: CheckedText, other: Quantity) -> bool:
    said, given = bound_of(claim, own), bound_of(sentence, other)
    if said == EXACT:
        return given == EXACT
    if said in (LOWER, UPPER) or given in (LOWER, UPPER):
        return said == given
    return True


def _fits_another(own: Quantity, here: Sequence[Quantity], claim: CheckedText, part: ClaimPart) -> bool:
    """Whether another number of the sentence stands nearer to what this one counts in the claim."""
    said = [q for q in claim.quantities if part.start <= q.start < part.end]
    rivals = [q for q in part.sentence.quantities if q.kind is own.kind and q not in here and q.unit in (here[0].unit, own.unit)]
    for rival in rivals:
        partner = next((q for q in said if q is not own and _agree(q, rival, claim)), None)
        straight = max(_context_of(own, q, claim, part) for q in here)
        crossed = _context_of(own, rival, claim, part)
        if partner:
            straight += _context_of(partner, rival, claim, part)
            crossed += max(_context_of(partner, q, claim, part) for q in here)
        if crossed > CLEARLY_NEARER * straight:
            return True
    return False


def _context_of(own: Quantity, place: Quantity, claim: CheckedText, part: ClaimPart) -> float:
    """Return how well a number's place in the sentence fits; quantities of other kinds count as words do."""
    others = [q for q in claim.quantities if part.start <= q.start < part.end and (q.kind in DATES) is not (own.kind in DATES)]
    more = [(q.start, at) for q in others if (at := [o.start for o in part.sentence.quantities if _agree(q, o, claim)])]
    return measure_context(part, own.start, own.end, place.start, place.end, more)
