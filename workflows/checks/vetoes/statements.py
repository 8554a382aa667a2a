"""Vetoes of what limits a statement: negation, hedges, certainty, quantities, "only", and opposite words."""

from collections.abc import Sequence

from workflows.checks.vetoes.alignment import ClaimPart
from workflows.checks.vetoes.contexts import CLEARLY_NEARER, measure_context
from workflows.checks.vetoes.lists import MarkerClass, compile_chinese_opposites, load_opposites
from workflows.checks.vetoes.reasons import Veto, VetoReason
from workflows.checks.vetoes.texts import Atom, CheckedText, Marker

LEVELS = {MarkerClass.ALL: 5, MarkerClass.MOST: 4, MarkerClass.MANY: 3, MarkerClass.SOME: 2, MarkerClass.FEW: 1}
UNLIKELY_ALONE = frozenset({MarkerClass.ALL, MarkerClass.MOST, MarkerClass.MANY, MarkerClass.FEW})
KEPT_LEVELS = frozenset({MarkerClass.MOST, MarkerClass.SOME, MarkerClass.FEW, MarkerClass.ONE_OF})
UNSETTLED = (MarkerClass.OPEN, MarkerClass.AHEAD)


def check_statement(claim: CheckedText, part: ClaimPart) -> list[Veto]:
    """Return at most one veto of each of these kinds."""
    own = [marker for marker in claim.markers if part.start <= marker.start < part.end]
    checks = (_check_opposites, _check_negations, _check_levels, _check_open, _check_certain, _check_only)
    return [veto for check in checks if (veto := check(part, own, claim))]


def _check_opposites(part: ClaimPart, _: Sequence[Marker], claim: CheckedText) -> Veto | None:
    """Find a word of the claim whose opposite stands in its place."""
    words = {atom.text.lower(): atom for atom in part.sentence.atoms if not atom.chinese}
    for atom, places in zip(part.atoms, part.places, strict=True):
        against = [words[word] for word in load_opposites().get(atom.text.lower(), ()) if word in words and not atom.chinese]
        against = [other for other in against if not _is_said(other, part)]
        if against and (not places or _stands_nearer(atom, places, against, claim, part)):
            return Veto(VetoReason.OPPOSITE, atom.text, given=against[0].text)
    return _check_chinese_opposites(part, claim)


def _check_chinese_opposites(part: ClaimPart, claim: CheckedText) -> Veto | None:
    own, given = claim.text[part.start : part.end], part.sentence.text
    pattern = compile_chinese_opposites()
    said, met = ({found.group() for found in pattern.finditer(text)} for text in (own, given))
    for word in sorted(said - met):
        if against := load_opposites()[word] & (met - said):
            return Veto(VetoReason.OPPOSITE, word, given=min(against))
    return None


def _is_said(other: Atom, part: ClaimPart) -> bool:
    """Whether the claim says the opposite word as well."""
    return any(atom.root == other.root for atom in part.atoms)


def _stands_nearer(atom: Atom, places: Sequence[int], against: Sequence[Atom], claim: CheckedText, part: ClaimPart) -> bool:
    """Whether an opposite word fits the words and numbers beside this one clearly better than the word itself."""
    own = [(q.start, q) for q in claim.quantities if part.start <= q.start < part.end]
    more = [
        (at, found)
        for at, q in own
        if (found := [o.start for o in part.sentence.quantities if (o.kind, o.value) == (q.kind, q.value)])
    ]
    best = max(measure_context(part, atom.start, atom.end, place, place + len(atom.text), more) for place in places)
    other = max(measure_context(part, atom.start, atom.end, o.start, o.end, more) for o in against)
    return other > CLEARLY_NEARER * best


def _places_of(marker: Marker, part: ClaimPart) -> frozenset[int]:
    """Return where the sentence has what a marker of the claim speaks of; words that it has once decide if there are any."""
    found = [places for atom, places in zip(part.atoms, part.places, strict=True) if atom.start in marker.heads]
    sure = [places for places in found if len(places) == 1] or found
    return frozenset(place for places in sure for place in places)


def _is_bound(marker: Marker, part: ClaimPart) -> bool:
    """Whether the claim repeats what a marker of the sentence says something of."""
    return not part.matched.isdisjoint(marker.heads)


def _check_negations(part: ClaimPart, own: Sequence[Marker], _: CheckedText) -> Veto | None:
    given = part.sentence.list_markers(MarkerClass.NEGATION)
    said = [marker for marker in own if marker.kind is MarkerClass.NEGATION]
    for marker in said:
        places = _places_of(marker, part)
        if not given or (places and not any(places & frozenset(other.heads) for other in given)):
            return Veto(VetoReason.NEGATION, marker.text)
    if not said and (left := next((marker for marker in given if _is_bound(marker, part)), None)):
        return Veto(VetoReason.NEGATION, left.text)
    return None


def _check_levels(part: ClaimPart, own: Sequence[Marker], _: CheckedText) -> Veto | None:
    given = part.sentence.list_markers(*LEVELS, MarkerClass.ONE_OF)
    said = [marker for marker in own if marker.kind in LEVELS or marker.kind is MarkerClass.ONE_OF]
    for marker in said:
        places = _places_of(marker, part)
        near = [other for other in given if places & frozenset(other.heads)]
        if marker.kind is MarkerClass.ONE_OF or (not near and any(other.text == marker.text for other in given)):
            continue
        near = near or given
        if not near and marker.kind in UNLIKELY_ALONE:
            return Veto(VetoReason.QUANTITY, marker.text)
        if near and not any(_allows(other.kind, marker.kind) for other in near):
            return Veto(VetoReason.QUANTITY, marker.text)
    left = [marker for marker in given if marker.kind in KEPT_LEVELS and _is_bound(marker, part)]
    return Veto(VetoReason.QUANTITY, left[0].text) if left and not said else None


def _allows(given: MarkerClass, said: MarkerClass) -> bool:
    """Whether a quantity follows from the given one: all are most, many and some; few are few."""
    if given is MarkerClass.ONE_OF:
        return said is MarkerClass.SOME
    return given is said or (LEVELS[given] > LEVELS[said] and said is not MarkerClass.FEW)


def _check_open(part: ClaimPart, own: Sequence[Marker], claim: CheckedText) -> Veto | None:
    """Find what the sentence leaves open and the claim does not; one hedge of the claim stands for one of the sentence.

    What is only said to come ("will") is not left open.
    """
    for kinds, given_kinds in (((MarkerClass.OPEN,), (MarkerClass.OPEN,)), (UNSETTLED, (MarkerClass.AHEAD,))):
        said = [marker for marker in claim.markers if marker.kind in kinds]
        given = [m for m in part.sentence.list_markers(*given_kinds) if _is_bound(m, part) and m.text not in part.title]
        left = [marker for marker in given if not any(_places_of(other, part) & frozenset(marker.heads) for other in said)]
        if left and len(_count_places(said)) < len(_count_places(given)):
            return Veto(VetoReason.OPEN, left[0].text)
    return None


def _count_places(markers: Sequence[Marker]) -> set[int]:
    """Return the places of markers; those that stand side by side are one."""
    return {marker.start for marker in markers if not any(0 <= marker.start - other.end <= 1 for other in markers)}


def _check_certain(part: ClaimPart, own: Sequence[Marker], _: CheckedText) -> Veto | None:
    said = next((marker for marker in own if marker.kind is MarkerClass.CERTAIN), None)
    return Veto(VetoReason.CERTAIN, said.text) if said and not part.sentence.list_markers(MarkerClass.CERTAIN) else None


def _check_only(part: ClaimPart, own: Sequence[Marker], _: CheckedText) -> Veto | None:
    said = next((marker for marker in own if marker.kind is MarkerClass.ONLY), None)
    given = part.sentence.list_markers(MarkerClass.ONLY)
    if said and not given:
        return Veto(VetoReason.ONLY, said.text)
    added = next((marker for marker in own if marker.kind is MarkerClass.ALSO), None)
    if added and given and not said and not part.sentence.list_markers(MarkerClass.ALSO):
        return Veto(VetoReason.ONLY, added.text)
    return None
