"""The figures of a set of self-samples: how many are good and bad, which faults they have, whether longer ones score higher."""

from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import StatisticsError, correlation, fmean
from typing import Any

from training.synthesis.self_samples.rows import GAP, STAGE, Side
from training.synthesis.training_set.outcome import KeptRow, WorkedCandidate
from workflows.checks.answer_faults import count_words


def count_figures(worked: Sequence[WorkedCandidate]) -> dict[str, float]:
    """Return the figures, over the outputs of kept and of refused prompts where both are known."""
    kept = [each.kept for each in worked if each.kept is not None]
    samples = [sample for each in worked for sample in _list_samples(each)]
    sides, faults = Counter(sample["side"] for sample in samples), Counter(f for sample in samples for f in sample["faults"])
    return {
        "outputs": float(len(samples)),
        **{f"outputs: {side}": float(sides[side]) for side in Side},
        "pairs for DPO": float(sum(bool(row.data["chosen"]) for row in kept)),
        **({"best minus worst, on average": fmean(row.counts[GAP] for row in kept)} if kept else {}),
        **{f"outputs with {fault}": float(count) for fault, count in sorted(faults.items())},
        **_measure_length(kept),
    }


def _list_samples(worked: WorkedCandidate) -> Sequence[Mapping[str, Any]]:
    if worked.kept is not None:
        samples: Sequence[Mapping[str, Any]] = worked.kept.data["samples"]
        return samples
    return worked.refused.data["scores"] if worked.refused is not None and worked.refused.stage == STAGE else ()


def _measure_length(kept: Sequence[KeptRow]) -> dict[str, float]:
    """Return the correlation of words and score over the kept outputs, where there is one."""
    samples = [sample for row in kept for sample in row.data["samples"]]
    words = [float(count_words(sample["output"])) for sample in samples]
    try:
        return {"correlation of words and score": correlation(words, [sample["score"] for sample in samples])}
    except StatisticsError:
        return {}  # too few outputs, or all alike
