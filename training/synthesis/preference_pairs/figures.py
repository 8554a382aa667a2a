"""The figures of a set of preferences: agreement, bias by position and by length, sources."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean

from training.synthesis.preference_pairs.choosing import CHOSEN, DROPPED, JUDGE
from training.synthesis.preference_pairs.rows import DIFFERENCE, SHOWN_LEFT, PairJudge
from training.synthesis.training_set.outcome import KeptRow, WorkedCandidate

PEOPLE = (PairJudge.READERS, PairJudge.REVIEWERS)


def count_figures(worked: Sequence[WorkedCandidate], sources: Mapping[str, float]) -> dict[str, float]:
    """Return the figures. `sources` has the numbers of models, systems and samplings among the runs."""
    kept = [each.kept for each in worked if each.kept is not None]
    return {
        **sources,
        **_count_sources(kept),
        **_measure_agreement(kept),
        **_measure_position(kept, worked),
        **_measure_length(kept),
        **{f"reports that fell out: {flaw}": float(count) for flaw, count in sorted(Counter(_list_flaws(worked)).items())},
    }


def _count_sources(kept: Sequence[KeptRow]) -> dict[str, float]:
    judged = Counter(row.data["judged_by"] for row in kept)
    runs = Counter(run for row in kept for run in {row.data[side]["lineage"]["run"] for side in ("accepted", "rejected")})
    return {f"pairs judged by {name}": float(count) for name, count in sorted(judged.items())} | {
        f"pairs with a report of {run}": float(count) for run, count in sorted(runs.items())
    }


def _measure_agreement(kept: Sequence[KeptRow]) -> dict[str, float]:
    shared = [row.data["agreement"] for row in kept if row.data["judged_by"] in PEOPLE and row.data["votes"] > 1]
    return {"agreement among people, pairs with two votes or more": fmean(shared)} if shared else {}


def _measure_position(kept: Sequence[KeptRow], worked: Sequence[WorkedCandidate]) -> dict[str, float]:
    """Return how often the judge's choice changes with the order, and how often such a choice is the report shown first."""
    changed = [
        each.refused.data[CHOSEN]
        for each in worked
        if each.refused is not None and each.refused.stage == JUDGE and CHOSEN in each.refused.data
    ]
    judged = len(changed) + sum(row.data["judged_by"] == PairJudge.MODEL for row in kept)
    left = [row.counts[SHOWN_LEFT] for row in kept if SHOWN_LEFT in row.counts]
    found = {"judge: choices that change with the order": len(changed) / judged} if judged else {}
    if changed:
        found["judge: changing choices for the report shown first"] = changed.count("A") / len(changed)
    return found | ({"people: choices for the report on the left": fmean(left)} if left else {})


def _measure_length(kept: Sequence[KeptRow]) -> dict[str, float]:
    """Return how often the longer report is preferred, and the correlation of length and preference.

    Each pair is taken in both directions, so that the correlation is the mean difference over its root mean square.
    """
    differences = [row.counts[DIFFERENCE] for row in kept if row.counts[DIFFERENCE]]
    if not differences:
        return {}
    spread = fmean(difference**2 for difference in differences) ** 0.5
    longer = sum(difference > 0 for difference in differences) / len(differences)
    return {"the longer is preferred": longer, "correlation of length and preference": fmean(differences) / spread}


def _list_flaws(worked: Sequence[WorkedCandidate]) -> Iterator[str]:
    for each in worked:
        data = each.kept.data if each.kept is not None else each.refused.data if each.refused is not None else {}
        yield from (str(dropped["flaw"]) for dropped in data.get(DROPPED, ()))
