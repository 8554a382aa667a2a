"""The offline grader: does this evidence support this claim?

Whether it may be called fully supported, trees say that read what the vetoes found (`full_support.py`). Else it is supported in
part where a reason can be named that is true whatever the words mean, and not judged where none can. A reader is warned where the
evidence has the opposite word, or next to none of the claim's words.
"""

from collections.abc import Sequence
from math import log
from typing import NamedTuple

from app.domain.claims import Support
from app.domain.query import Language, detect_language
from workflows.checks.full_support import SupportTrees, load_support_trees, measure_support
from workflows.checks.overlap import measure_likeness, measure_pairs, rank_by_coverage
from workflows.checks.rarity import load_rarity
from workflows.checks.reading import read_sentence
from workflows.checks.vetoes.naming import name_veto
from workflows.checks.vetoes.reasons import OPPOSED, Veto
from workflows.checks.vetoes.veto import VetoFindings, find_vetoes

LONGEST_PASSAGE = 20
"""The most sentences that are laid beside a claim."""
MOSTLY_SAID = 0.35
"""The share of its words that the evidence of a contradicted claim lacks, at most."""
UNSAID = 0.05
"""The likeness up to which the evidence says nothing of a claim."""


class Evidence(NamedTuple):
    """The evidence for a claim: its source's title and at least one sentence."""

    title: str
    sentences: Sequence[str]


class ClaimGrade(NamedTuple):
    """`full` is the probability that a claim may be called fully supported; `veto` is the named reason against it."""

    support: Support
    full: float
    veto: Veto | None = None


def grade_claim(claim: str, evidence: Evidence, trees: SupportTrees | None = None) -> ClaimGrade:
    """Grade a claim against its evidence, which has at least one sentence; by trees other than the shipped ones if given."""
    trees = trees or load_support_trees()
    signals, findings = measure_claim(claim, evidence)
    full = trees.probability_of(signals)
    if full >= trees.full:
        return ClaimGrade(Support.FULL, full)
    veto = name_veto(findings.vetoes, (evidence.title, *evidence.sentences), doubted=full < trees.doubted)
    return ClaimGrade(_find_fault(signals["likeness"], full, veto, trees), full, veto)


def measure_claim(claim: str, evidence: Evidence) -> tuple[dict[str, float], VetoFindings]:
    """Return what the trees read of a claim and its evidence, by name, and what the vetoes found."""
    own = read_sentence(claim)
    title, sentences = read_sentence(evidence.title), [read_sentence(text) for text in evidence.sentences]
    rarity = load_rarity()
    closest = sorted(rank_by_coverage(own, sentences, rarity)[:LONGEST_PASSAGE])
    findings = find_vetoes(claim, evidence.title, tuple(evidence.sentences[place] for place in closest))
    shared = {
        "likeness": measure_likeness(own, [title, *sentences], rarity),
        "pairs": measure_pairs(own, sentences),
        "claim_length": log(1 + len(own.stems)),
        "evidence_length": log(len(sentences)),
    }
    return shared | measure_support(findings, detect_language(claim) is Language.CHINESE), findings


def _find_fault(likeness: float, full: float, veto: Veto | None, trees: SupportTrees) -> Support:
    """Return the verdict on a claim that may not be called fully supported."""
    if full < trees.doubted and likeness <= UNSAID:
        return Support.NONE
    if veto is None:
        return Support.UNJUDGED
    opposed = full < trees.warned and veto.reason in OPPOSED and veto.unknown <= MOSTLY_SAID
    return Support.CONTRADICTED if opposed else Support.PARTIAL
