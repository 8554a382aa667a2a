"""Figures over the scored items of a run, with their bootstrap intervals and numbers of items."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from app.domain.missing import Missing
from training.evaluation.harness.scores import Scores
from training.evaluation.preference_metrics import Interval, bootstrapped
from training.rewards.score import Score

Row = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure over all items that have the values it `needs`; `of` computes it from these items' values."""

    needs: tuple[str, ...]
    of: Callable[[Sequence[Row]], Score]

    def usable(self, scores: Scores) -> bool:
        """Whether an item has the values that the figure needs."""
        return all(name in scores.values for name in self.needs)

    def over(self, scores: Sequence[Scores]) -> Score:
        """Compute the figure; Missing where no item is usable."""
        rows = [score.values for score in scores if self.usable(score)]
        return self.of(rows) if rows else Missing(f"no item has {' and '.join(self.needs)}")


def mean_of(name: str) -> Figure:
    """Return the figure of a value's mean."""
    return Figure((name,), lambda rows: fmean(row[name] for row in rows))


def ratio_of(part: str, whole: str) -> Figure:
    """Return the figure of one value's sum over another's: a share of everything counted, not a mean of shares."""

    def ratio(rows: Sequence[Row]) -> Score:
        total = sum(row[whole] for row in rows)
        return sum(row[part] for row in rows) / total if total else Missing(f"no {whole} was counted")

    return Figure((part, whole), ratio)


def means(*names: str) -> dict[str, Figure]:
    """Return `mean_of` each value, by name."""
    return {name: mean_of(name) for name in names}


@dataclass(frozen=True, slots=True)
class Told:
    """A figure's interval, or the reason why there is none, and the number of its items."""

    name: str
    interval: Interval | Missing
    items: int


def told(figures: Mapping[str, Figure], scores: Sequence[Scores], seed: int) -> list[Told]:
    """Estimate every figure over these items."""
    found = []
    for name, figure in figures.items():
        usable = [score for score in scores if figure.usable(score)]
        found.append(Told(name, bootstrapped(figure.over, usable, seed), len(usable)))
    return found


def by_group(figure: Figure, scores: Sequence[Scores], group: Callable[[Scores], str]) -> dict[str, tuple[Score, int]]:
    """Compute a figure and the number of its items for each group, in the order of the groups' names."""
    groups: dict[str, list[Scores]] = {}
    for score in scores:
        if figure.usable(score):
            groups.setdefault(group(score), []).append(score)
    return {name: (figure.over(groups[name]), len(groups[name])) for name in sorted(groups)}
