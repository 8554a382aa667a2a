"""The order in which examples are trained: all epochs as one sequence, which depends on nothing but the seed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil
from random import Random
from typing import TypeVar

E = TypeVar("E")


@dataclass(frozen=True, slots=True)
class LengthPhase:
    """Examples of at most `up_to` tokens (and more than the phase before) come from the share `begins` of the run on."""

    up_to: int
    begins: float


def lay_out_epochs(examples: Sequence[E], epochs: float, seed: int, begins: Callable[[E], float] = lambda _: 0.0) -> list[E]:
    """Return the examples of all epochs, each drawn to a place between the share of the run at which it `begins` and its end.

    Of a fraction of an epoch, the fraction is drawn. Short examples thus dominate the beginning of a length curriculum, and come
    up to its end.
    """
    draw = Random(seed)
    whole = [*examples] * int(epochs)
    rest = draw.sample([*examples], ceil(len(examples) * (epochs % 1)))
    placed = [(begins(each) + (1.0 - begins(each)) * draw.random(), each) for each in [*whole, *rest]]
    return [each for _, each in sorted(placed, key=lambda one: one[0])]


def find_phase(tokens: int, phases: Sequence[LengthPhase]) -> LengthPhase | None:
    """Return the phase of an example of this length; None where it is longer than all."""
    return next((phase for phase in sorted(phases, key=lambda phase: phase.up_to) if tokens <= phase.up_to), None)


def count_steps(examples: int, epochs: float, together: int) -> int:
    """Return the steps of a run over these examples, of which a step takes so many together."""
    return ceil((examples * int(epochs) + ceil(examples * (epochs % 1))) / together)
