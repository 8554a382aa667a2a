"""The check whether a public set has a question already. It compares runs of words, so that small changes do not hide one.

A run is eight words, or thirteen ideographs; articles, case and punctuation do not count. A shorter question is known when a
public question contains it as a whole.
"""

from collections.abc import Iterable, Sequence

from app.domain.script import is_ideograph
from training.evaluation.answer_metrics import tokens_of

WORDS, IDEOGRAPHS = 8, 13


class PublicQuestions:
    """The runs of all public questions, with their sets."""

    def __init__(self) -> None:
        self._runs: dict[tuple[str, ...], str] = {}
        self._whole: list[tuple[str, str]] = []

    def add(self, name: str, questions: Iterable[str]) -> int:
        """Add a set, and return the number of its questions."""
        count = 0
        for question in questions:
            said = tokens_of(question)
            count += 1
            self._whole.append((_join_words(said), name))
            for size in (WORDS, IDEOGRAPHS):
                for run in _runs_of(said, size):
                    self._runs.setdefault(run, name)
        return count

    def find_set(self, question: str) -> str:
        """Return the name of the set that has the question; empty where none has."""
        said = tokens_of(question)
        size = IDEOGRAPHS if _is_ideographic(said) else WORDS
        if len(said) >= size:
            return next((self._runs[run] for run in _runs_of(said, size) if run in self._runs), "")
        whole = _join_words(said)
        return next((name for other, name in self._whole if whole in other), "")


def _runs_of(said: Sequence[str], size: int) -> Iterable[tuple[str, ...]]:
    return (tuple(said[at : at + size]) for at in range(len(said) - size + 1))


def _is_ideographic(said: Sequence[str]) -> bool:
    return 2 * sum(is_ideograph(token) for token in said) >= len(said)


def _join_words(said: Sequence[str]) -> str:
    """Join words with spaces around them, so that only whole words match."""
    return f" {' '.join(said)} "
