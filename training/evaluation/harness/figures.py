"""Figures over the scored items of a run, with their intervals and numbers of items."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from app.domain.missing import Missing
from training.evaluation.harness.scores import ItemScores
from training.evaluation.intervals import Interval, estimate_figure
from training.rewards.score import Score

FigureRow = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class BenchmarkFigure:
    """A figure over all items that have the values it `needs`; `of` computes it from these items' values."""

    needs: tuple[str, ...]
    of: Callable[[Sequence[FigureRow]], Score]

    def is_usable(self, scores: ItemScores) -> bool:
        """Say whether an item has the values that the figure needs."""
        return all(name in scores.values for name in self.needs)

    def compute(self, scores: Sequence[ItemScores]) -> Score:
        """Compute the figure; Missing where no item is usable."""
        rows = [score.values for score in scores if self.is_usable(score)]
        return self.of(rows) if rows else Missing(f"no item has {' and '.join(self.needs)}")


def mean_of(name: str) -> BenchmarkFigure:
    """Return the figure of a value's mean."""
    return BenchmarkFigure((name,), lambda rows: fmean(row[name] for row in rows))


def ratio_of(part: str, whole: str) -> BenchmarkFigure:
    """Return the figure of one value's sum over another's: a share of everything counted, not a mean of shares."""

    def ratio(rows: Sequence[FigureRow]) -> Score:
        total = sum(row[whole] for row in rows)
        return sum(row[part] for row in rows) / total if total else Missing(f"no {whole} was counted")

    return BenchmarkFigure((part, whole), ratio)


def means_of(*names: str) -> dict[str, BenchmarkFigure]:
    """Return `mean_of` each value, by name."""
    return {name: mean_of(name) for name in names}


@dataclass(frozen=True, slots=True)
class FigureEstimate:
    """A figure's value and interval, each or the reason why there is none, and the number of its items."""

    name: str
    value: Score
    interval: Interval | Missing
    items: int


def estimate_figures(figures: Mapping[str, BenchmarkFigure], scores: Sequence[ItemScores]) -> list[FigureEstimate]:
    """Estimate every figure over these items."""
    found = []
    for name, figure in figures.items():
        usable = [score for score in scores if figure.is_usable(score)]
        found.append(FigureEstimate(name, figure.compute(usable), estimate_figure(figure.compute, usable), len(usable)))
    return found


def group_figure(
    figure: BenchmarkFigure, scores: Sequence[ItemScores], group: Callable[[ItemScores], str]
) -> dict[str, tuple[Score, int]]:
    """Compute a figure and the number of its items for each group, in the order of the groups' names."""
    groups: dict[str, list[ItemScores]] = {}
    for score in scores:
        if figure.is_usable(score):
            groups.setdefault(group(score), []).append(score)
    return {name: (figure.compute(groups[name]), len(groups[name])) for name in sorted(groups)}
