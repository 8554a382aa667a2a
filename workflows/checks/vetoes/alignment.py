"""Which words of a claim stand where in a sentence of its evidence: by root, as synonym, as abbreviation."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from app.domain.script import is_ideograph
from workflows.checks.vetoes.lists import load_lists, load_synonyms
from workflows.checks.vetoes.texts import Atom, CheckedText, read_checked

LONGEST_BLOCK = 24
LONGEST_PHRASE = 6
OPENING = {False: 30, True: 10}
SUBJECT_REACH = {False: 40, True: 12}
LEAST_OF_PART = 3
_BOUNDARY = re.compile(r"[;；,，:：、]|\b(?:and|but|while|whereas|which|who)\b|并|而|但")
_INITIALS = re.compile(r"\b[A-Z][\w’'-]*(?:(?: (?:of|the|and|for|de))* [A-Z][\w’'-]*)+")
_ACRONYM = re.compile(r"\b(?:[A-Z]\.?){2,6}(?![a-z])")
_BRACKETS = re.compile(r"\s*[(（][^()（）]*[)）]")
_LATIN = re.compile(r"[A-Za-z][\w’'-]*")
_SKIPPED = frozenset({"of", "the", "and", "for", "de"})
Places = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ClaimPart:
    """The stretch `[start, end)` of a claim that one sentence of the evidence should state.

    `places` has, for each atom of the stretch, its places in that sentence; none if only the title or a sentence before has it.
    `unknown` are the atoms that the evidence does not have there; `titled` are the stretches of the claim that name the title,
    which the sentence does not; `title` is the title in lower case.
    """

    start: int
    end: int
    sentence: CheckedText
    atoms: tuple[Atom, ...]
    places: tuple[Places, ...]
    unknown: tuple[Atom, ...]
    titled: tuple[tuple[int, int], ...]
    title: str

    @property
    def matched(self) -> frozenset[int]:
        """All places of the sentence that the stretch matches."""
        return frozenset(place for places in self.places for place in places)


def align_claim(claim: CheckedText, title: CheckedText, sentences: Sequence[CheckedText]) -> list[ClaimPart]:
    """Divide the claim at its clauses into stretches that one sentence each has in full; else it is held to the closest one."""
    rows = [match_atoms(claim, sentence) for sentence in sentences]
    by_title = [bool(places) for places in match_atoms(claim, title)]
    best = max(
        range(len(rows)), key=lambda i: (_count_shared(claim, sentences[i], rows[i], by_title), sum(map(bool, rows[i])), -i)
    )
    known = [
        [
            bool(places) or atom.free or by_title[i] or _is_named_before(i, number, sentences, rows)
            for i, (atom, places) in enumerate(zip(claim.atoms, row, strict=True))
        ]
        for number, row in enumerate(rows)
    ]
    order = [best, *(number for number in range(len(rows)) if number != best)]
    stretches = _divide(0, len(claim.atoms), order, known, _list_boundaries(claim)) or [(0, len(claim.atoms), best)]
    return [_make_part(claim, title, sentences[of], rows[of], known[of], (start, end)) for start, end, of in stretches]


def _list_boundaries(claim: CheckedText) -> list[int]:
    """Return the numbers of the atoms that a clause begins with."""
    bounds = [found.start() for found in _BOUNDARY.finditer(claim.text)]
    places = [atom.start for atom in claim.atoms]
    return [number for number in range(1, len(places)) if any(places[number - 1] < bound < places[number] for bound in bounds)]


def _divide(
    start: int, end: int, order: Sequence[int], known: Sequence[Sequence[bool]], boundaries: Sequence[int]
) -> list[tuple[int, int, int]]:
    """Return stretches with the number of the sentence that has each in full; none where that cannot be."""
    for number in order:
        if all(known[number][start:end]):
            return [(start, end, number)]
    for boundary in reversed(boundaries):
        if not start + LEAST_OF_PART <= boundary <= end - LEAST_OF_PART:
            continue
        has = next((number for number in order if all(known[number][start:boundary])), None)
        if has is not None and (rest := _divide(boundary, end, order, known, [b for b in boundaries if b > boundary])):
            return [(start, boundary, has), *rest]
    return []


def _count_shared(claim: CheckedText, sentence: CheckedText, row: Sequence[Places], by_title: Sequence[bool]) -> int:
    """Return how many words and quantities of the claim the sentence has; words of the title stand for the source's subject."""
    values = {(quantity.kind, quantity.value) for quantity in sentence.quantities}
    numbers = sum((quantity.kind, quantity.value) in values for quantity in claim.quantities)
    return numbers + sum(bool(places) and not titled for places, titled in zip(row, by_title, strict=True))


def _make_part(
    claim: CheckedText,
    title: CheckedText,
    sentence: CheckedText,
    row: Sequence[Places],
    known: Sequence[bool],
    stretch: tuple[int, int],
) -> ClaimPart:
    first, last = stretch
    atoms = claim.atoms[first:last]
    unknown = tuple(atom for atom, has in zip(atoms, known[first:last], strict=True) if not has)
    start = atoms[0].start if first else 0
    end = claim.atoms[last].start if last < len(claim.atoms) else len(claim.text)
    titled = _find_title(claim.text, title.text, sentence.text)
    return ClaimPart(start, end, sentence, atoms, tuple(row[first:last]), unknown, titled, title.text.lower())


def _find_title(claim: str, title: str, sentence: str) -> tuple[tuple[int, int], ...]:
    """Return where the claim has the title (without what is in brackets), unless the sentence has it too."""
    name = _BRACKETS.sub("", title).strip()
    if not name or name in sentence:
        return ()
    return tuple(found.span() for found in re.finditer(re.escape(name), claim))


def _is_named_before(atom: int, number: int, sentences: Sequence[CheckedText], rows: Sequence[Sequence[Places]]) -> bool:
    """Whether a sentence that refers back may mean this word: one before it begins with it."""
    if not _refers_back(sentences[number]):
        return False
    reach = SUBJECT_REACH[is_ideograph(sentences[number].text[:1])]
    return any(place < reach for row in rows[:number] for place in row[atom])


def _refers_back(sentence: CheckedText) -> bool:
    chinese = is_ideograph(sentence.text[:1])
    return bool(load_lists().pronouns.search(sentence.text[: OPENING[chinese]].lower()))


def match_atoms(claim: CheckedText, sentence: CheckedText) -> tuple[Places, ...]:
    """Return the places in the sentence of each atom of the claim."""
    places = [_match_word(atom, sentence) if not atom.chinese else () for atom in claim.atoms]
    _match_phrases(claim, sentence, places)
    _match_initials(claim, sentence, places)
    if any(atom.chinese for atom in claim.atoms):
        _match_ideographs(claim, sentence, places)
    return tuple(places)


def _match_word(atom: Atom, sentence: CheckedText) -> Places:
    if same := sentence.at.get(atom.root):
        return same
    groups = load_synonyms().members.get(atom.root, frozenset())
    return tuple(other.start for other in sentence.atoms if groups & load_synonyms().members.get(other.root, frozenset()))


def _match_phrases(claim: CheckedText, sentence: CheckedText, places: list[Places]) -> None:
    """Match words whose synonym is a phrase, and phrases whose synonym is a word."""
    synonyms, lower, own = load_synonyms(), sentence.text.lower(), claim.text.lower()
    for number, atom in enumerate(claim.atoms):
        if places[number] or atom.chinese:
            continue
        groups = set(synonyms.members.get(atom.root, ()))
        near = own[max(0, atom.start - 20) : atom.end + 20]
        groups |= {group for group, phrase in _index_phrases().get(atom.text.lower(), ()) if phrase in near}
        for group in groups:
            for phrase in synonyms.phrases[group]:
                if (" " in phrase or phrase in sentence.at) and (at := lower.find(phrase)) >= 0:
                    places[number] = (at,)


@cache
def _index_phrases() -> Mapping[str, Sequence[tuple[int, str]]]:
    """Return, by word, the phrases of several words that it belongs to, with their groups."""
    found: dict[str, list[tuple[int, str]]] = {}
    for group, phrases in load_synonyms().phrases.items():
        for phrase in phrases:
            for word in phrase.split() if " " in phrase else ():
                found.setdefault(word, []).append((group, phrase))
    return found


def _match_initials(claim: CheckedText, sentence: CheckedText, places: list[Places]) -> None:
    """Match an acronym with the words whose initials it is, either way."""
    words = [found for found in _LATIN.finditer(sentence.text) if found.group() not in _SKIPPED]
    initials = "".join(found.group()[0] for found in words).upper()
    acronyms = {found.group().replace(".", ""): found.start() for found in _ACRONYM.finditer(sentence.text)}
    for number, atom in enumerate(claim.atoms):
        letters = atom.text.replace(".", "")
        if not places[number] and len(letters) > 1 and letters.isupper() and (at := initials.find(letters)) >= 0:
            places[number] = (words[at].start(),)
    for found in _INITIALS.finditer(claim.text) if acronyms else ():
        start = acronyms.get(_initials_of(found.group()))
        for number, atom in enumerate(claim.atoms):
            if start is not None and not places[number] and found.start() <= atom.start < found.end():
                places[number] = (start,)


def _initials_of(run: str) -> str:
    return "".join(word[0] for word in run.split() if word[0].isupper())


def _match_ideographs(claim: CheckedText, sentence: CheckedText, places: list[Places]) -> None:
    """Match runs of ideographs by the longest pieces that the sentence has too, then by synonyms, then one by one."""
    numbers = {atom.start: number for number, atom in enumerate(claim.atoms)}
    text, at = claim.text, 0
    while at < len(text):
        if not is_ideograph(text[at]):
            at += 1
            continue
        length = _longest_shared(text, at, sentence.text)
        found = _find_all(sentence.text, text[at : at + length]) if length else []
        if not found:
            length, found = _find_synonym(text, at, sentence.text)
        if not found:
            length, found = 1, _find_all(sentence.text, text[at])
        for offset in range(length):
            if (number := numbers.get(at + offset)) is not None:
                places[number] = tuple(place + offset for place in found)
        at += length


def _longest_shared(text: str, at: int, other: str) -> int:
    length = 1
    while (
        length < LONGEST_BLOCK
        and at + length < len(text)
        and is_ideograph(text[at + length])
        and text[at : at + length + 1] in other
    ):
        length += 1
    return length if length > 1 else 0


def _find_all(text: str, piece: str) -> list[int]:
    return [found.start() for found in re.finditer(re.escape(piece), text)]


def _find_synonym(text: str, at: int, other: str) -> tuple[int, list[int]]:
    """Return the length of the longest word here of which the other text has a synonym, and the synonym's places."""
    synonyms = load_synonyms()
    for length in range(LONGEST_PHRASE, 0, -1):
        for group in synonyms.members.get(text[at : at + length], ()):
            for phrase in synonyms.phrases[group]:
                if len(text[at : at + length]) == length and (found := _find_all(other, phrase)):
                    return length, found
    return 1, []


def read_evidence(title: str, sentences: Sequence[str]) -> tuple[CheckedText, list[CheckedText]]:
    """Read the title and the sentences."""
    return read_checked(title), [read_checked(text) for text in sentences]
