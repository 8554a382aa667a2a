"""Verifying and revising a question with its rubric by a separate model (DeepRubric Eq. 3, appendices C.3 and C.4).

    found = await verify_pair(kit, question, unrevised, leaves)
    match found: Missing(reason) | Verification(decision=KEEP | REVISE, question=..., rubric=...) | Verification(decision=DROP)

The verifier repairs the wording of a question and its criteria; it adds no facts to the leaves of an evidence tree. This module
checks that: a factual criterion rests on selected leaves alone, and its evidence is looked up in their statements.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from pydantic import Field, ValidationError

from app.domain.evidence_rubric import CriterionType, EvidenceCriterion, EvidenceRubric, Variant
from app.domain.missing import Missing
from retrieval.language.tokens import split_words
from workflows.agents.kit import Kit
from workflows.agents.quoting import locate_quote
from workflows.agents.steps import StepAnswer, declare_step
from workflows.judging.evidence_generation import CheckAnswer
from workflows.judging.judge_call import ask_judge

MOST_REVISED = 8
LEAST_SHARED_STEMS = 0.8
"""The least share of a paraphrase's stems that the statement behind it must have."""


class PairDecision(StrEnum):
    """The decision on a question with its rubric."""

    KEEP = "keep"
    REVISE = "revise"
    DROP = "drop"


class RubricFault(StrEnum):
    """The kinds of fault that an audit looks for (appendix C.3, prompt of Fig. 12)."""

    ALIGNMENT = "alignment"
    SUITABILITY = "suitability"
    QUALITY = "quality"
    EVIDENCE = "evidence"
    FAITHFULNESS = "faithfulness"
    SCORING = "scoring"


@dataclass(frozen=True, slots=True)
class EvidenceLeaf:
    """A selected leaf of an evidence tree: its sub-question, and the statements its passages support."""

    id: str
    question: str
    statements: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Verification:
    """The verdict. `rubric` is None if the pair is dropped; `unusable` says what a revision lost, and why."""

    decision: PairDecision
    question: str
    rubric: EvidenceRubric | None
    faults: tuple[RubricFault, ...] = ()
    reason: str = ""
    unusable: tuple[str, ...] = ()


class RevisedAnswer(CheckAnswer):
    """One criterion of the revision."""

    leaves: tuple[str, ...] = Field(default=(), description="ids of the leaves it comes from")
    evidence: tuple[str, ...] = Field(default=(), description="statements of these leaves, copied; none if logical")


class VerificationAnswer(StepAnswer):
    """The answer of the audit."""

    justification: str = Field(default="", description="what decides it, in one or two sentences")
    faults: tuple[str, ...] = Field(default=(), description=f"any of: {', '.join(RubricFault)}; none if there is nothing to mend")
    decision: str = Field(default="", description="the verdict", json_schema_extra={"enum": [*PairDecision]})
    question: str = Field(default="", description="the question as revised; empty unless the verdict is revise")
    criteria: tuple[RevisedAnswer, ...] = Field(default=(), description="all criteria as revised; none unless it is revise")


VERIFICATION = declare_step("rubric_verification", VerificationAnswer, max_tokens=4_000)


async def verify_pair(
    kit: Kit, question: str, rubric: EvidenceRubric, leaves: Sequence[EvidenceLeaf], merges: str = ""
) -> Verification | Missing:
    """Verify a question and its unrevised rubric. `merges` says how the leaves were put together, if known.

    Missing if the call fails, if the verdict is none of the three, or if too little of the rubric is left.
    """
    shown = "\n\n".join(
        f"[{leaf.id}] {leaf.question}\n" + "\n".join(f"- {statement}" for statement in leaf.statements) for leaf in leaves
    )
    said = await ask_judge(
        kit, VERIFICATION, _require_decision, question=question, leaves=shown, merges=merges or "-", rubric=_format_rubric(rubric)
    )
    return said if isinstance(said, Missing) else _make_verification(said, question, rubric, leaves, kit.chat.name)


def _require_decision(said: VerificationAnswer) -> VerificationAnswer | None:
    return said if said.decision.strip().lower() in [*PairDecision] else None


def _format_rubric(rubric: EvidenceRubric) -> str:
    return "\n".join(f"{c.shown}\n  weight {c.weight:g}; leaves: {', '.join(c.source_leaf_ids) or '-'}" for c in rubric.criteria)


def _make_verification(
    said: VerificationAnswer, question: str, rubric: EvidenceRubric, leaves: Sequence[EvidenceLeaf], verifier: str
) -> Verification | Missing:
    decision = PairDecision(said.decision.strip().lower())
    named = [fault.strip().lower() for fault in said.faults]
    faults = tuple(fault for fault in RubricFault if fault in named)
    if decision is PairDecision.DROP:
        return Verification(decision, question, None, faults, said.justification)
    if decision is PairDecision.KEEP:
        try:
            return Verification(decision, question, rubric.as_verified(), faults, said.justification)
        except ValueError:
            return Missing(f"{VERIFICATION.name}: kept, but without negative criteria too few are left")
    criteria, unusable = _revise_criteria(said.criteria, {leaf.id: leaf for leaf in leaves})
    try:
        revised = EvidenceRubric(variant=Variant.TREE, criteria=criteria, model=verifier)
    except ValidationError:
        told = "; ".join(unusable) or f"it has {len(criteria)} criteria"
        return Missing(f"{VERIFICATION.name}: the revised rubric cannot be used: {told}")
    return Verification(decision, said.question.strip() or question, revised, faults, said.justification, tuple(unusable))


def _revise_criteria(
    said: Sequence[RevisedAnswer], leaves: dict[str, EvidenceLeaf]
) -> tuple[tuple[EvidenceCriterion, ...], list[str]]:
    """Return the usable criteria, at most eight, each wording once; and what was wrong with the others."""
    kept: dict[str, EvidenceCriterion] = {}
    unusable: list[str] = []
    for number, check in enumerate(said, 1):
        found = _make_criterion(number, check, leaves)
        if isinstance(found, str):
            unusable.append(f"R{number}: {found}")
        else:
            kept.setdefault(found.description.casefold(), found)
    return tuple(kept.values())[:MOST_REVISED], unusable


def _make_criterion(number: int, said: RevisedAnswer, leaves: dict[str, EvidenceLeaf]) -> EvidenceCriterion | str:
    """Return the criterion, or why it cannot be used."""
    ids = tuple(dict.fromkeys(leaf.strip().strip("[]") for leaf in said.leaves))
    if unknown := [leaf for leaf in ids if leaf not in leaves]:
        return f"it names {unknown[0][:40]!r}, which is no selected leaf"
    if said.weight < 0:
        return "its weight is negative"
    kind = said.type.strip().lower()
    evidence: list[str] = []
    if kind == CriterionType.FACTUAL:
        statements = [statement for leaf in ids for statement in leaves[leaf].statements]
        evidence = [own for words in said.evidence if (own := find_own_words(words, statements)) is not None]
        if not evidence or len(evidence) < len(said.evidence):
            return "its leaves do not state its evidence"
    try:
        return EvidenceCriterion(
            id=f"R{number}",
            type=CriterionType(kind),
            description=said.description,
            weight=said.weight,
            source_leaf_ids=ids,
            evidence=tuple(dict.fromkeys(evidence)),
        )
    except ValueError:
        return "its type, description or weight is out of form"


def find_own_words(said: str, statements: Sequence[str]) -> str | None:
    """Return the leaves' own words for a piece of evidence: the copied words, or the statement that it closely paraphrases."""
    for statement in statements:
        if (span := locate_quote(statement, said)) is not None:
            return statement[span.start : span.end]
    wanted = _stems_of(said)
    near = [
        s
        for s in statements
        if wanted and len(wanted & _stems_of(s)) >= LEAST_SHARED_STEMS * len(wanted) and _digits_of(said) <= _digits_of(s)
    ]
    return near[0] if near else None


def _stems_of(text: str) -> set[str]:
    return {word.stem for word in split_words(text) if word.stem}


def _digits_of(text: str) -> set[str]:
    return {word.text for word in split_words(text) if any(character.isdigit() for character in word.text)}
