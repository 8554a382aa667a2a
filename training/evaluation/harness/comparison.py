"""The comparison of two runs over the same items: paired differences with their intervals."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.domain.errors import Conflict
from app.domain.missing import Missing
from training.evaluation.harness.example import AnyBenchmark
from training.evaluation.harness.figures import BenchmarkFigure
from training.evaluation.harness.manifest import RunManifest
from training.evaluation.harness.scores import ItemScores
from training.evaluation.intervals import Interval, estimate_difference
from training.rewards.score import Score

ScoredPair = tuple[ItemScores, ItemScores]
FEWEST_TO_CALL = 20
"""With fewer items no difference is called clear: intervals of so few rest on the shape of what they measure."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A figure of both runs over the items that have it in both, and its difference, second minus first."""

    name: str
    first: Score
    second: Score
    difference: Score
    interval: Interval | Missing
    items: int

    @property
    def clear(self) -> bool:
        """Whether the interval of enough items excludes zero."""
        if self.items < FEWEST_TO_CALL or isinstance(self.interval, Missing):
            return False
        return self.interval.low > 0 or self.interval.high < 0


def require_comparable(first: RunManifest, second: RunManifest) -> None:
    """Require the same benchmark, scored in the same way from the same data by the same judge.

    Raises:
        Conflict: the runs differ; the message says in what.
    """
    if differing := list_differences(first, second):
        raise Conflict(f"these runs cannot be compared: they differ in {', '.join(differing)}")


def list_differences(first: RunManifest, second: RunManifest) -> list[str]:
    """List in words what keeps two runs from being compared; nothing where they can be."""
    differing = [
        what
        for what, one, other in (
            ("benchmark", first.benchmark, second.benchmark),
            ("variant", first.variant, second.variant),
            ("data", first.data, second.data),
            ("judge", _judge_of(first), _judge_of(second)),
            ("how much of a report the judge is shown", first.judge.most_chars, second.judge.most_chars),
            ("judge's prompts", _shared_prompts(first, second), _shared_prompts(second, first)),
        )
        if one != other
    ]
    if first.demonstration or second.demonstration:
        differing.append("purpose: a demonstration measures nothing")
    return differing


def compare_runs(benchmark: AnyBenchmark, first: Sequence[ItemScores], second: Sequence[ItemScores]) -> list[Difference]:
    """Compare every figure over the items that both runs have scored.

    Raises:
        Conflict: there are no such items.
    """
    pairs = pair_scores(first, second)
    if not pairs:
        raise Conflict("these runs have no scored item in common")
    return [compare_figure(name, figure, pairs) for name, figure in benchmark.figures.items()]


def pair_scores(first: Sequence[ItemScores], second: Sequence[ItemScores]) -> list[ScoredPair]:
    """Return the scores of the items that both runs have."""
    others = {score.item: score for score in second}
    return [(score, others[score.item]) for score in first if score.item in others]


def word_verdict(found: Sequence[Difference]) -> str:
    """Say in words which figures differ clearly, and which have too few items to say."""
    few = [d.name for d in found if d.items < FEWEST_TO_CALL]
    clear = [d.name for d in found if d.clear]
    said = [f"Clearly different: {', '.join(clear)}."] if clear else ["No figure is clearly different."]
    if few:
        said.append(f"Fewer than {FEWEST_TO_CALL} items are too few to call two systems different: {', '.join(few)}.")
    return " ".join(said)


def compare_figure(name: str, figure: BenchmarkFigure, pairs: Sequence[ScoredPair]) -> Difference:
    """Compare one figure over the pairs that have it twice."""
    both = [pair for pair in pairs if figure.is_usable(pair[0]) and figure.is_usable(pair[1])]

    def difference(drawn: Sequence[ScoredPair]) -> Score:
        before, after = figure.compute([pair[0] for pair in drawn]), figure.compute([pair[1] for pair in drawn])
        if isinstance(before, Missing):
            return before
        return after if isinstance(after, Missing) else after - before

    sides = [figure.compute([pair[side] for pair in both]) for side in (0, 1)]
    return Difference(name, sides[0], sides[1], difference(both), estimate_difference(difference, both), len(both))


def _judge_of(manifest: RunManifest) -> tuple[str, str] | None:
    """Return the judge's name and codec; its price changes no score."""
    model = manifest.judge.model
    return (model.name, model.codec) if model else None


def _shared_prompts(manifest: RunManifest, other: RunManifest) -> dict[str, str]:
    """Return the prompts of the languages in which both runs judged."""
    return {name: digest for name, digest in manifest.judge.prompts.items() if name in other.judge.prompts}
