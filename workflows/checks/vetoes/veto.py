"""What keeps a claim from being called fully supported by its evidence, or nothing."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from workflows.checks.vetoes.alignment import ClaimPart, align_claim, read_evidence
from workflows.checks.vetoes.figures import check_figures
from workflows.checks.vetoes.reasons import Veto, VetoReason
from workflows.checks.vetoes.statements import check_statement
from workflows.checks.vetoes.structure import check_structure
from workflows.checks.vetoes.texts import Atom, CheckedText, read_checked

UNKNOWN_SHARE = {False: 0.21, True: 0.1}
"""The greatest share of a claim's words (or ideographs), not counting names, that may be others than the evidence's."""
MOST_UNKNOWN = 1
REPLACED_REACH = 40
SHOWN_WORDS = 4


class VetoFindings(NamedTuple):
    """All that speaks against full support, with the veto that a reader should hear of first.

    `words` counts the claim's words (or ideographs), `unknown` those that the evidence lacks, `unknown_names` the names among
    them; `parts` are the stretches that different sentences state.
    """

    vetoes: tuple[Veto, ...]
    words: int
    unknown: int
    unknown_names: int
    parts: int


def find_veto(claim: str, title: str, sentences: tuple[str, ...]) -> Veto | None:
    """Return the first veto against full support; None for a claim that passes."""
    return next(iter(find_vetoes(claim, title, sentences).vetoes), None)


@lru_cache(maxsize=256)
def find_vetoes(claim: str, title: str, sentences: tuple[str, ...]) -> VetoFindings:
    """Find all vetoes against full support, at most one of a kind for each part of the claim."""
    own = read_checked(claim)
    heading, evidence = read_evidence(title, sentences)
    if not own.atoms:
        return VetoFindings((Veto(VetoReason.WORDS, own.text.strip(), 1.0),), 0, 0, 0, 0)
    parts = align_claim(own, heading, evidence)
    found = [*_find_in_parts(own, parts, [heading, *evidence]), _check_words(own, parts)]
    unknown = [atom for part in parts for atom in part.unknown]
    share = len(unknown) / len(own.atoms)
    vetoes = tuple(veto._replace(unknown=share) for veto in found if veto)
    return VetoFindings(vetoes, len(own.atoms), len(unknown), sum(atom.name for atom in unknown), len(parts))


def _find_in_parts(claim: CheckedText, parts: Sequence[ClaimPart], everything: Sequence[CheckedText]) -> Iterator[Veto | None]:
    for part in parts:
        yield check_figures(claim, part, everything)
        yield _check_names(part)
        yield from check_statement(claim, part)
        yield check_structure(claim, part)


def _check_names(part: ClaimPart) -> Veto | None:
    names = [atom.text for atom in part.unknown if atom.name]
    return Veto(VetoReason.NAME, " ".join(names[:SHOWN_WORDS])) if names else None


def _check_words(claim: CheckedText, parts: Sequence[ClaimPart]) -> Veto | None:
    """Find words that the evidence does not have: more than few, or one that replaces another."""
    unknown = [(part, atom) for part in parts for atom in part.unknown]
    chinese = sum(atom.chinese for atom in claim.atoms) * 2 > len(claim.atoms)
    few = len(unknown) <= min(MOST_UNKNOWN, UNKNOWN_SHARE[chinese] * len(claim.atoms))
    if few and not any(_replaces_another(atom, part) for part, atom in unknown):
        return None
    joint = "" if unknown[0][1].chinese else ", "
    return Veto(VetoReason.WORDS, joint.join(atom.text for _, atom in unknown[:SHOWN_WORDS]))


def _replaces_another(atom: Atom, part: ClaimPart) -> bool:
    """Whether the sentence has another word, which the claim lacks, between the words beside this one."""
    number = part.atoms.index(atom)
    before = next((part.places[i] for i in range(number - 1, -1, -1) if part.places[i]), ())
    after = next((part.places[i] for i in range(number + 1, len(part.atoms)) if part.places[i]), ())
    left, right = max(before, default=0), min((place for place in after if place > max(before, default=-1)), default=None)
    limit = right if right is not None else left + REPLACED_REACH
    return any(left < other.start < limit and other.start not in part.matched and not other.free for other in part.sentence.atoms)
