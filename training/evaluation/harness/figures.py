"""Figures over the scored items of a run, with their bootstrap intervals. What is missing is left out, and counted."""

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
    """A figure over all items that have the values it `needs`; `of` makes it of these items' values."""

    needs: tuple[str, ...]
    of: Callable[[Sequence[Row]], Score]

    def usable(self, scores: Scores) -> bool:
        """Whether an item has what the figure needs."""
        return all(name in scores.values for name in self.needs)

    def over(self, scores: Sequence[Scores]) -> Score:
        """The figure; missing where no item is usable."""
        rows = [score.values for score in scores if self.usable(score)]
        return self.of(rows) if rows else Missing(f"no item has {' and '.join(self.needs)}")


def mean_of(name: str) -> Figure:
    """The mean of a value."""
    return Figure((name,), lambda rows: fmean(row[name] for row in rows))


def ratio_of(part: str, whole: str) -> Figure:
    """The sum of one value over the sum of another: a share of all that was counted, not a mean of shares."""

    def ratio(rows: Sequence[Row]) -> Score:
        total = sum(row[whole] for row in rows)
        return sum(row[part] for row in rows) / total if total else Missing(f"no {whole} was counted")

    return Figure((part, whole), ratio)


def means(*names: str) -> dict[str, Figure]:
    """`mean_of` each of them."""
    return {name: mean_of(name) for name in names}


@dataclass(frozen=True, slots=True)
class Told:
    """A figure as it is told: its interval or why there is none, and how many items it rests on."""

    name: str
    interval: Interval | Missing
    items: int


def told(figures: Mapping[str, Figure], scores: Sequence[Scores], seed: int) -> list[Told]:
    """Every figure over these items."""
    found = []
    for name, figure in figures.items():
        usable = [score for score in scores if figure.usable(score)]
        found.append(Told(name, bootstrapped(figure.over, usable, seed), len(usable)))
    return found


def by_group(figure: Figure, scores: Sequence[Scores], group: Callable[[Scores], str]) -> dict[str, tuple[Score, int]]:
    """One figure and the number of its items for each group, in the order of the groups' names."""
    groups: dict[str, list[Scores]] = {}
    for score in scores:
        if figure.usable(score):
            groups.setdefault(group(score), []).append(score)
    return {name: (figure.over(groups[name]), len(groups[name])) for name in sorted(groups)}
