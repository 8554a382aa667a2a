"""What keeps a claim from being called fully supported by its evidence, or nothing."""

from collections.abc import Sequence
from functools import lru_cache

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


@lru_cache(maxsize=1_024)
def find_veto(claim: str, title: str, sentences: tuple[str, ...]) -> Veto | None:
    """Return the first veto against full support; None for a claim that passes."""
    own = read_checked(claim)
    heading, evidence = read_evidence(title, sentences)
    if not own.atoms:
        return Veto(VetoReason.WORDS, own.text.strip(), 1.0)
    parts = align_claim(own, heading, evidence)
    veto = _find_in_parts(own, parts, [heading, *evidence]) or _check_words(own, parts)
    return veto._replace(unknown=sum(len(part.unknown) for part in parts) / len(own.atoms)) if veto else None


def _find_in_parts(claim: CheckedText, parts: Sequence[ClaimPart], everything: Sequence[CheckedText]) -> Veto | None:
    for part in parts:
        veto = check_figures(claim, part, everything) or _check_names(part) or check_statement(claim, part)
        if veto := veto or check_structure(claim, part):
            return veto
    return None


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
