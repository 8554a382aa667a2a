"""Vetoes of who did what to whom: causes, times and comparisons that are turned round, and subjects that changed places."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise, takewhile
from typing import NamedTuple

from app.domain.script import IDEOGRAPHS
from workflows.checks.vetoes.alignment import ClaimPart, Places
from workflows.checks.vetoes.lists import Relation, load_lists, load_opposites, load_relations
from workflows.checks.vetoes.reasons import Veto, VetoReason
from workflows.checks.vetoes.texts import Atom, CheckedText

_CLAUSE_END = re.compile(r"[.;。；]")
_COMMA = re.compile(r"[,，]")
_PASSIVE = re.compile(r"\b(?:was|were|is|are|be|been|being)\b[^.;,]{1,30}?\bby\b|被|由|受到?")
_NUMBER_AFTER = re.compile(
    r"\s*[\d$€£一二三四五六七八九十百千万]|\s*(?:a|one|two|three|four|five|six|seven|eight|nine|ten|half)\b"
)
_ADVERBIAL = re.compile(
    r"(?:In|On|At|After|Before|During|Since|When|While|As|By|From|Between|Under|According|For|With|Despite|Until|Near)\b|[在于从自当据至到]|\d{4}年"
)
_OF = re.compile(r"\s*of(?: the| an?)?\s*|['’]s?\s*", re.IGNORECASE)
_PREPOSITION = re.compile(r"\s(?:to|in|by|against|over|at|for|into|under|from)(?: the)?\s", re.IGNORECASE)
_CLAUSE_BREAK = re.compile(r"[,;，；。]")
_MORE_THAN_A_LIST = re.compile(rf"[{IDEOGRAPHS}](?<![和与及或的、])|\b(?!and\b|or\b|s\b)[A-Za-z]+")
REACH_OF_ADJECTIVE = 25
NEAREST = {False: 4, True: 8}
OPENING_CHARS = {False: 14, True: 3}
MOST_OPENING = 3


class RelationUse(NamedTuple):
    """A relation in a text: the stretches of its first and its second member."""

    name: str
    words: str
    at: int
    first: tuple[int, int]
    second: tuple[int, int]
    adjective: str


def check_structure(claim: CheckedText, part: ClaimPart) -> Veto | None:
    """Return a veto if the part turns its sentence round."""
    return _check_relations(claim, part) or _check_roles(claim, part)


def _check_relations(claim: CheckedText, part: ClaimPart) -> Veto | None:
    for relation in load_relations():
        given = list(find_uses(relation, part.sentence.text))
        for use in find_uses(relation, claim.text):
            if (
                _lies_in(use.at, part.titled)
                or not part.start <= min(use.first[1], use.second[1]) <= part.end
                or not _has_members(use, part)
            ):
                continue
            if not given or not any(_fits(use, other, claim, part) for other in given):
                return Veto(VetoReason.RELATION, use.words)
    return None


def _has_members(use: RelationUse, part: ClaimPart) -> bool:
    return all(any(low <= atom.start < high for atom in part.atoms) for low, high in (use.first, use.second))


def find_uses(relation: Relation, text: str) -> Iterator[RelationUse]:
    """Yield the uses of a relation in a text."""
    lower = text.lower()
    apart = [found.span() for found in relation.apart.finditer(lower)]
    backward = [found for found in relation.backward.finditer(lower) if not _lies_in(found.start(), apart)]
    taken = [*apart, *(found.span() for found in backward)]
    forward = [found for found in relation.forward.finditer(lower) if not _lies_in(found.start(), taken)]
    for found, is_forward in [*((found, False) for found in backward), *((found, True) for found in forward)]:
        if relation.name != "comparison" or not _NUMBER_AFTER.match(lower, found.end()):
            yield _read_use(relation.name, text, found, is_forward)


def _lies_in(place: int, spans: Sequence[tuple[int, int]]) -> bool:
    return any(start <= place < end for start, end in spans)


def _read_use(name: str, text: str, found: re.Match[str], is_forward: bool) -> RelationUse:
    before, after = _members_of(text, *found.span())
    words = found.group()
    described = re.findall(r"[a-z]+", text[max(0, found.start() - REACH_OF_ADJECTIVE) : found.start()].lower())[-2:]
    first, second = (before, after) if is_forward else (after, before)
    return RelationUse(name, words, found.start(), first, second, " ".join(described) if words == "than" else words)


def _members_of(text: str, start: int, end: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return the stretches before and after a relation's words; where those begin a clause, its main clause counts as before."""
    opened = max([0, *(found.end() for found in _CLAUSE_END.finditer(text, 0, start))])
    stop = _CLAUSE_END.search(text, end)
    closed = stop.start() if stop else len(text)
    comma = _COMMA.search(text, end, closed)
    if not text[opened:start].strip(" ,，") and comma:
        return (comma.end(), closed), (end, comma.start())
    return (opened, start), (end, closed)


def _fits(own: RelationUse, other: RelationUse, claim: CheckedText, part: ClaimPart) -> bool:
    """Whether a use in the claim has what stands next to it on the same sides as a use in the sentence.

    Where words change sides both ways, the two are turned round. Where only one member's do, and the other member stays, they may
    have been put in front ("In summer, A is warmer than B").
    """
    straight, crossed = [0, 0], [0, 0]
    for side, span in enumerate((own.first, own.second)):
        for places in _list_nearest(span, own, claim, part):
            sides = {_side_of(place, other) for place in places} - {0}
            straight[side] += sides == {side + 1}
            crossed[side] += sides == {2 - side}
    if own.name == "comparison" and _are_opposite(own.adjective, other.adjective):
        straight, crossed = crossed, straight
    stayed = any(kept and not crossed[side] and straight[1 - side] for side, kept in enumerate(straight))
    return stayed or (not all(crossed) and sum(straight) >= sum(crossed))


def _list_nearest(span: tuple[int, int], use: RelationUse, claim: CheckedText, part: ClaimPart) -> list[Places]:
    """Return the places of the words and numbers of a member that stand nearest to the relation's words.

    Only those of their own clause count, if it has any.
    """
    words = [(atom.start, places) for atom, places in zip(part.atoms, part.places, strict=True)]
    known = [*words, *((run.start, (run.place,)) for run in _list_figures(claim, part))]
    inside = [(at, places) for at, places in known if span[0] <= at < span[1]]
    close = [each for each in inside if not _COMMA.search(claim.text, *sorted((each[0], use.at)))] or inside
    nearest = sorted(close, key=lambda each: abs(each[0] - use.at))[: NEAREST[bool(part.atoms) and part.atoms[0].chinese]]
    return [places for _, places in nearest]


def _side_of(place: int, use: RelationUse) -> int:
    return 1 if use.first[0] <= place < use.first[1] else 2 if use.second[0] <= place < use.second[1] else 0


def _are_opposite(one: str, other: str) -> bool:
    return any(word in load_opposites().get(opposite, ()) for opposite in one.split() for word in other.split())


def _check_roles(claim: CheckedText, part: ClaimPart) -> Veto | None:
    """Find words with one thing before and another after them, which in the sentence stand the other way round."""
    own, given = claim.text[part.start : part.end], part.sentence.text
    if bool(_PASSIVE.search(own)) != bool(_PASSIVE.search(given)) or _list_causes(own) != _list_causes(given):
        return None
    runs = list_runs(claim, part)
    fronted = _find_fronted(claim.text[part.start : part.end]) + part.start
    for number, pivot in enumerate(runs):
        back = [r for r in runs[:number] if r.place > pivot.place and r.start >= fronted and _are_apart(claim.text, r, pivot)]
        on = [run for run in runs[number + 1 :] if run.place < pivot.place and _are_apart(claim.text, pivot, run)]
        if back and on:
            words = (claim.text[run.start : run.end] for run in (back[-1], pivot, on[0]))
            return Veto(VetoReason.ROLES, " … ".join(words))
    if exchanged := _find_exchanged(claim.text, runs):
        return Veto(VetoReason.ROLES, " … ".join(claim.text[run.start : run.end] for run in exchanged))
    return _check_mixture(claim, part, runs) or _check_subject(claim, part, runs)


def _find_fronted(text: str) -> int:
    """Return where a claim's adverbial opening ends ("In 1990, ..."); 0 without one."""
    comma = _COMMA.search(text)
    return comma.end() if comma and _ADVERBIAL.match(text) else 0


def _list_causes(text: str) -> list[str]:
    """Return the words of cause in a text; where they differ, another order may say the same."""
    return [use.words for relation in load_relations() if relation.name == "cause" for use in find_uses(relation, text)]


class Run(NamedTuple):
    """Words of a claim at `[start, end)` that stand in the same order, next to each other, from `place` of the sentence on.

    `first` and `last` number the sentence's words; a quantity is a run without numbers. `name`: it consists of names.
    """

    start: int
    end: int
    place: int
    first: int
    last: int
    name: bool


def list_runs(claim: CheckedText, part: ClaimPart) -> list[Run]:
    """Return the runs of a part. Words that the sentence has twice belong to a run only if they continue one."""
    runs: list[Run] = []
    starts = {atom.start: number for number, atom in enumerate(part.sentence.atoms)}
    for atom, places in zip(part.atoms, part.places, strict=True):
        if atom.free or _lies_in(atom.start, part.titled):
            continue
        numbers = [starts[place] for place in places if place in starts]
        if runs and runs[-1].last + 1 in numbers:
            runs[-1] = runs[-1]._replace(end=atom.end, last=runs[-1].last + 1, name=runs[-1].name and atom.name)
        elif len(numbers) == 1 and len(places) == 1:
            runs.append(Run(atom.start, atom.end, places[0], numbers[0], numbers[0], atom.name))
    return sorted([*runs, *_list_figures(claim, part)])


def _list_figures(claim: CheckedText, part: ClaimPart) -> Iterator[Run]:
    """Yield the quantities of a part that its sentence has once."""
    for own in claim.quantities:
        same = [q.start for q in part.sentence.quantities if (q.kind, q.value, q.unit) == (own.kind, own.value, own.unit)]
        if part.start <= own.start < part.end and len(same) == 1:
            yield Run(own.start, own.end, same[0], -2, -2, False)


def _are_apart(text: str, one: Run, other: Run) -> bool:
    """Whether two runs are no members of one list and no possessor with what it has, which may stand in either order."""
    between = text[one.end : other.start]
    if _OF.fullmatch(between):
        return other.last + 1 != one.first
    return _MORE_THAN_A_LIST.search(between) is not None or not (one.name and other.name)


def _find_exchanged(text: str, runs: Sequence[Run]) -> tuple[Run, Run] | None:
    """Return two names that a preposition joins, and that the sentence has in the other order."""
    for one, other in pairwise(runs):
        if one.name and other.name and other.place < one.place and _PREPOSITION.fullmatch(text[one.end : other.start]):
            return one, other
    return None


def _check_mixture(claim: CheckedText, part: ClaimPart, runs: Sequence[Run]) -> Veto | None:
    """Find neighbours from two clauses of the sentence, where the second one lost what stood before it in its own."""
    sentence = part.sentence
    for one, other in pairwise(runs):
        if other.place > one.place or other.first < 1 or _CLAUSE_BREAK.search(claim.text, one.end, other.start):
            continue
        before = sentence.atoms[other.first - 1]
        together = not _CLAUSE_BREAK.search(sentence.text, before.end, other.place)
        if (
            together
            and before.start not in part.matched
            and not before.free
            and _CLAUSE_BREAK.search(sentence.text, other.place, one.place)
        ):
            return Veto(VetoReason.ROLES, f"{claim.text[one.start : one.end]} … {claim.text[other.start : other.end]}")
    return None


def _check_subject(claim: CheckedText, part: ClaimPart, runs: Sequence[Run]) -> Veto | None:
    """Find a part that begins with something else than the clause whose words it has."""
    if not part.atoms or len(runs) < 1 or load_lists().pronouns.match(claim.text[part.start :].lower()):
        return None
    opening = _opening_of(part)
    if not opening:
        return None
    rest = [place for atom, places in zip(part.atoms, part.places, strict=True) if atom not in opening for place in places[:1]]
    if not rest or any(
        place <= min(rest) for atom, places in zip(part.atoms, part.places, strict=True) if atom in opening for place in places
    ):
        return None
    begins = max([0, *(found.end() for found in _CLAUSE_BREAK.finditer(part.sentence.text, 0, min(rest)))])
    subject = [atom for atom in part.sentence.atoms if begins <= atom.start < min(rest)]
    if not subject or any(atom.start in part.matched for atom in subject) or _stands_in(part.sentence.text[begins : min(rest)]):
        return None
    return Veto(VetoReason.ROLES, claim.text[opening[0].start : opening[-1].end])


def _opening_of(part: ClaimPart) -> list[Atom]:
    """Return the first words of a part: those that the sentence does not have, or else the first few close together."""
    atoms = [(atom, places) for atom, places in zip(part.atoms, part.places, strict=True) if not atom.free]
    strange = [atom for atom, _ in takewhile(lambda each: not each[1], atoms)]
    near = [atom for atom, _ in atoms if atom.start - atoms[0][0].start < OPENING_CHARS[atom.chinese]]
    return strange or near[:MOST_OPENING]


def _stands_in(opening: str) -> bool:
    """Whether the beginning of a clause is a pronoun or a word for a kind of thing: it, the company."""
    return load_lists().pronouns.search(opening.lower()) is not None or load_lists().stand_ins.search(opening.lower()) is not None
