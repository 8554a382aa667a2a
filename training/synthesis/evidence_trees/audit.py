"""The audit of a query with its rubric by a second model, and the primary reason of a revision (DeepRubric Table 7).

The verifier names faults of six kinds, and the paper reports seven reasons, one for each revised pair, without saying how it
found them. This rule does: a name or number that the selected leaves lack and the revision took out comes first, then the faults
in the order of the paper's rates.
"""

from collections.abc import Mapping
from enum import StrEnum

from app.domain.evidence_rubric import EvidenceRubric
from app.domain.value import Value
from retrieval.language.names import find_names
from retrieval.language.tokens import split_words
from training.synthesis.evidence_trees.pair import QueryWithRubric
from training.synthesis.evidence_trees.tree import EvidenceTree
from workflows.judging.rubric_verification import PairDecision, RubricFault, Verification


class RevisionReason(StrEnum):
    """The primary reason of a revision; a row of Table 7."""

    MISMATCH = "question_rubric_mismatch"
    EVIDENCE = "evidence_sufficiency"
    OVERREACH = "merge_overreach"
    NEGATIVE_WEIGHT = "negative_weight_removal"
    GRANULARITY = "rubric_granularity"
    DRIFT = "entity_domain_time_mismatch"
    OTHER = "other"


_BY_FAULT: Mapping[RubricFault, RevisionReason] = {
    RubricFault.ALIGNMENT: RevisionReason.MISMATCH,
    RubricFault.EVIDENCE: RevisionReason.EVIDENCE,
    RubricFault.FAITHFULNESS: RevisionReason.OVERREACH,
    RubricFault.SCORING: RevisionReason.NEGATIVE_WEIGHT,
    RubricFault.QUALITY: RevisionReason.GRANULARITY,
}
"""The reasons by fault, in the order in which they count. A fault of suitability is `other`."""


class TreeAudit(Value):
    """The verdict on a pair. `primary` is the reason of a revision; `unusable` says what a revision lost, and why."""

    decision: PairDecision
    faults: tuple[RubricFault, ...] = ()
    reason: str = ""
    unusable: str = ""
    primary: RevisionReason | None = None


def describe_audit(found: Verification, pair: QueryWithRubric, tree: EvidenceTree) -> TreeAudit:
    """Return a verdict as a row keeps it."""
    revised = found.decision is PairDecision.REVISE and found.rubric is not None
    return TreeAudit(
        decision=found.decision,
        faults=found.faults,
        reason=found.reason,
        unusable="; ".join(found.unusable),
        primary=name_primary_reason(found, pair, tree) if revised else None,
    )


def name_primary_reason(found: Verification, pair: QueryWithRubric, tree: EvidenceTree) -> RevisionReason:
    """Return the primary reason of a revision."""
    if _takes_out_strangers(found, pair, tree):
        return RevisionReason.DRIFT
    negative = any(criterion.weight < 0 for criterion in pair.rubric.criteria)
    named = [fault for fault in _BY_FAULT if fault in found.faults and (fault is not RubricFault.SCORING or negative)]
    return _BY_FAULT[named[0]] if named else RevisionReason.OTHER


def _takes_out_strangers(found: Verification, pair: QueryWithRubric, tree: EvidenceTree) -> bool:
    """Say whether the revision lacks a name or number of the pair that no selected leaf has."""
    leaves = [leaf for leaf in tree.leaves if leaf.id in pair.selected_ids]
    known = _list_marks("\n".join(text for leaf in leaves for text in (leaf.question, *leaf.statements)))
    before, after = _list_marks(_join_words(pair.query, pair.rubric)), _list_marks(_join_words(found.question, found.rubric))
    return bool(before - known - after)


def _join_words(query: str, rubric: EvidenceRubric | None) -> str:
    return "\n".join((query, *(criterion.description for criterion in (rubric.criteria if rubric else ()))))


def _list_marks(text: str) -> set[str]:
    """Return the names and numbers of a text."""
    return set(find_names(text)) | {word.text for word in split_words(text) if word.text[0].isdigit()}
