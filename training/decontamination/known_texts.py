"""The check whether a public set has a text already, word for word or nearly.

A text is known when it shares a run of eight words (or thirteen ideographs) with a public one, when it is short and stands whole
in one, or when it is a near-copy of one. Articles, case and punctuation do not count.
"""

from collections.abc import Iterable, Sequence

from app.domain.script import is_ideograph
from training.decontamination.near_copies import WordOverlap
from training.evaluation.answer_metrics import tokens_of

WORDS, IDEOGRAPHS = 8, 13


class KnownTexts:
    """The texts of all public sets, with the names of the sets."""

    def __init__(self) -> None:
        self._runs: dict[tuple[str, ...], str] = {}
        self._whole: list[tuple[str, str]] = []
        self._texts: list[tuple[str, str]] = []
        self._overlap: WordOverlap | None = None

    def add(self, name: str, texts: Iterable[str]) -> int:
        """Add a set, and return the number of its texts."""
        added = [(text, name) for text in texts]
        for text, _ in added:
            said = tokens_of(text)
            self._whole.append((_join_words(said), name))
            for size in (WORDS, IDEOGRAPHS):
                for run in _runs_of(said, size):
                    self._runs.setdefault(run, name)
        self._texts += added
        self._overlap = None
        return len(added)

    def find_set(self, text: str) -> str:
        """Return the name of the set that has the text; empty where none has."""
        said = tokens_of(text)
        size = IDEOGRAPHS if _is_ideographic(said) else WORDS
        if len(said) >= size:
            found = next((self._runs[run] for run in _runs_of(said, size) if run in self._runs), "")
        else:
            whole = _join_words(said)
            found = next((name for other, name in self._whole if whole in other), "")
        return found or self._find_near(text)

    def _find_near(self, text: str) -> str:
        if self._overlap is None:
            self._overlap = WordOverlap([known for known, _ in self._texts])
        near = self._overlap.find_near(text)
        return self._texts[max(near, key=lambda place: near[place])][1] if near else ""


def _runs_of(said: Sequence[str], size: int) -> Iterable[tuple[str, ...]]:
    return (tuple(said[at : at + size]) for at in range(len(said) - size + 1))


def _is_ideographic(said: Sequence[str]) -> bool:
    return 2 * sum(is_ideograph(token) for token in said) >= len(said)


def _join_words(said: Sequence[str]) -> str:
    """Join words with spaces around them, so that only whole words match."""
    return f" {' '.join(said)} "
