"""How the stub plays each step of the chain, so that a run has a known size. Steps are known by the name of their schema."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Self

from tests.support.model_stub_answers import Prompt


@dataclass(frozen=True, slots=True)
class Shape:
    """The size of a run: subtasks in the plan, act-observe turns of each search agent, searches among them, sections."""

    subtasks: int = 6
    turns: int = 8
    searches: int = 2
    sections: int = 12

    @classmethod
    def parse(cls, words: Iterable[str]) -> Self:
        """From `name=count` words. Raises TypeError on an unknown name, ValueError on a count that is no number."""
        return cls(**{name: int(count) for name, _, count in (word.partition("=") for word in words)})


STEPS: dict[str, Callable[[Prompt, Shape], Any]] = {}


def scripted(prompt: Prompt, shape: Shape) -> Any:
    """The scripted answer to a step, or None where the stub has no script and the schema decides."""
    play = STEPS.get(prompt.step)
    return play(prompt, shape) if play else None
