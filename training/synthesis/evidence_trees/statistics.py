"""The numbers of a set of evidence trees: DeepRubric's Tables 6 and 7 (appendices C.3 and C.4) and its cost table (Table 3).

The paper's counts do not add up. It retains 9,064 pairs (section 4.5, Tables 5 and 6). Section 4.1 uses 200 for SFT and the other
8,886 for RL: 200 + 8,886 = 9,086, which is 22 more than there are; 9,064 - 200 = 8,864. Section 4.5 also says that 91.5% and 0.6%
*of the retained* pairs were revised and kept, but these are shares of all 9,838 (C.2: 91.50% revised, 7.87% dropped), as 92.1% is
their sum. Here the rates of revision and of dropping are shares of all pairs that have a verdict.

A share or a mean of nothing is 0.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from app.domain.budget import Usage
from training.synthesis.evidence_trees.audit import RevisionReason
from training.synthesis.training_set.outcome import WorkedCandidate
from workflows.judging.rubric_verification import PairDecision

EXTRAPOLATED = 9_000
PAPER_TABLE_6: Mapping[str, float] = {
    "generated": 9_838,
    "retained": 9_064,
    "retained_share": 0.921,
    "training_pairs": 9_064,
    "depth": 3,
    "nodes_per_tree": 54.5,
    "leaves_per_tree": 38.7,
    "selected_per_example": 5.0,
    "passages_per_selected": 2.9,
    "criteria_per_example": 7.0,
    "factual_share": 0.584,
    "logical_share": 0.416,
    "revision_rate": 0.915,
    "drop_rate": 0.079,
}
"""Table 6 as published, without its models (a report has those under "Made with") and its SFT subset of 200 (another set)."""
PAPER_TABLE_3: Mapping[str, float] = {"usd_9000": 180}
"""Table 3's cost of the data, which was for 9,064 rows. Its other columns are costs of training."""
PAPER_C_2: Mapping[str, float] = {"passages_per_leaf": 2.54, "leaves_at_depth_3_share": 0.914}
"""Further numbers of trees that appendix C.2 has."""
PAPER_TABLE_7: Mapping[RevisionReason, float] = {
    RevisionReason.MISMATCH: 0.564,
    RevisionReason.EVIDENCE: 0.182,
    RevisionReason.OVERREACH: 0.083,
    RevisionReason.NEGATIVE_WEIGHT: 0.082,
    RevisionReason.GRANULARITY: 0.053,
    RevisionReason.DRIFT: 0.025,
    RevisionReason.OTHER: 0.010,
}
"""Table 7 as published: shares of the revised pairs."""


def count_figures(worked: Sequence[WorkedCandidate]) -> dict[str, float]:
    """Return all numbers for the report of a set, each by its name with the paper's number beside it."""
    figures = {_name_beside(name, PAPER_TABLE_6.get(name)): value for name, value in count_table_6(worked).items()}
    figures |= {_name_beside(name, PAPER_C_2.get(name)): value for name, value in count_trees(worked).items()}
    reasons = count_table_7(worked)
    figures |= {_name_beside(f"revised for {name}", PAPER_TABLE_7[name]): value for name, value in reasons.items()}
    cost = count_cost(worked)
    return figures | {_name_beside(name, PAPER_TABLE_3.get(name)): value for name, value in cost.items()}


def _name_beside(name: str, paper: float | None) -> str:
    told = name.replace("_", " ")
    return told if paper is None else f"{told} (paper: {paper})"


def count_table_6(worked: Sequence[WorkedCandidate]) -> dict[str, float]:
    """Return the numbers of Table 6.

    `generated` counts the pairs that have a verdict. Numbers of trees are means over all trees, those of rubrics over kept rows.
    """
    trees = list(_list_tree_counts(worked))
    rows = [one.kept.counts for one in worked if one.kept]
    decisions = Counter(_list_decisions(worked))
    generated = sum(decisions.values())
    criteria = sum(row["criteria"] for row in rows)
    return {
        "generated": generated,
        "retained": len(rows),
        "retained_share": _divide(len(rows), generated),
        "training_pairs": len(rows),
        "depth": max((tree["depth"] for tree in trees), default=0),
        "nodes_per_tree": _mean(trees, "nodes"),
        "leaves_per_tree": _mean(trees, "leaves"),
        "selected_per_example": _mean(rows, "selected"),
        "passages_per_selected": _divide(sum(row["selected_passages"] for row in rows), sum(row["selected"] for row in rows)),
        "criteria_per_example": _mean(rows, "criteria"),
        "factual_share": _divide(sum(row["factual"] for row in rows), criteria),
        "logical_share": _divide(sum(row["logical"] for row in rows), criteria),
        "revision_rate": _divide(decisions[PairDecision.REVISE], generated),
        "drop_rate": _divide(decisions[PairDecision.DROP], generated),
    }


def count_trees(worked: Sequence[WorkedCandidate]) -> dict[str, float]:
    """Return further numbers of trees."""
    trees = list(_list_tree_counts(worked))
    leaves = sum(tree["leaves"] for tree in trees)
    return {
        "trees": len(trees),
        "passages_per_leaf": _divide(sum(tree["leaf_passages"] for tree in trees), leaves),
        "leaves_at_depth_3_share": _divide(sum(tree["leaves_at_depth_3"] for tree in trees), leaves),
        "fallen_per_tree": _mean(trees, "fallen"),
        "lost_statements_per_tree": _mean(trees, "lost_statements"),
    }


def count_table_7(worked: Sequence[WorkedCandidate]) -> dict[RevisionReason, float]:
    """Return the share of each primary reason among the revised pairs, also of those that fell out later."""
    told = Counter(str(audit.get("primary")) for audit in _list_audits(worked) if audit.get("primary"))
    return {reason: _divide(told[reason], sum(told.values())) for reason in RevisionReason}


def count_cost(worked: Sequence[WorkedCandidate]) -> dict[str, float]:
    """Return what the set cost, with all that fell out, and the price of 9,000 rows at the same yield (Table 3: annotation)."""
    usage = sum((one.usage for one in worked), Usage())
    kept = sum(one.kept is not None for one in worked)
    usd = usage.cost_microusd / 1e6
    return {
        "model_calls": usage.model_calls,
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "usd": usd,
        "usd_per_row": _divide(usd, kept),
        "tokens_per_row": _divide(usage.tokens, kept),
        "usd_9000": _divide(usd, kept) * EXTRAPOLATED,
    }


def _list_tree_counts(worked: Iterable[WorkedCandidate]) -> Iterable[Mapping[str, float]]:
    for one in worked:
        counts = one.kept.counts if one.kept else one.refused.data.get("counts") if one.refused else None
        if counts:
            yield counts


def _list_audits(worked: Iterable[WorkedCandidate]) -> Iterable[Mapping[str, Any]]:
    for one in worked:
        data = one.kept.data if one.kept else one.refused.data if one.refused else {}
        if "audit" in data:
            yield data["audit"]


def _list_decisions(worked: Iterable[WorkedCandidate]) -> Iterable[str]:
    return (str(audit["decision"]) for audit in _list_audits(worked))


def _mean(counts: Sequence[Mapping[str, float]], name: str) -> float:
    return _divide(sum(one[name] for one in counts), len(counts))


def _divide(amount: float, by: float) -> float:
    return amount / by if by else 0.0
