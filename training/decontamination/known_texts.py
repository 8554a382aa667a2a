"""The check whether a public set has a text already, word for word or nearly.

A text is known when it shares a run of eight words (or thirteen ideographs) with a public one; when one of the two is shorter
than that, and stands whole in the other; or when it is a near-copy. Articles, case and punctuation do not count. Long texts,
such as reports, share eight words by chance: they are known by thirteen words (or twenty ideographs) in a row.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from app.domain.script import is_ideograph
from training.decontamination.near_copies import WordOverlap
from training.evaluation.answer_metrics import tokens_of

WORDS, IDEOGRAPHS = 8, 13
LONG = {WORDS: 13, IDEOGRAPHS: 20}
FEWEST_WORDS, FEWEST_IDEOGRAPHS = 3, 6
"""A shorter public text is no sign of a copy: it is found as a whole only."""


class KnownTexts:
    """The texts of all public sets, with the names of the sets."""

    def __init__(self) -> None:
        self._runs: dict[int, dict[tuple[str, ...], str]] = defaultdict(dict)
        self._whole: list[tuple[str, str]] = []
        self._texts: list[tuple[str, str]] = []
        self._overlap: WordOverlap | None = None

    def add(self, name: str, texts: Iterable[str]) -> int:
        """Add a set, and return the number of its texts."""
        added = [(text, name) for text in texts]
        for text, _ in added:
            said = tokens_of(text)
            self._whole.append((_join_words(said), name))
            for run in _runs_of(said):
                self._runs[len(run)].setdefault(run, name)
        self._texts += added
        self._overlap = None
        return len(added)

    def list_texts(self) -> dict[str, list[str]]:
        """Return all texts by the names of their sets."""
        found: dict[str, list[str]] = defaultdict(list)
        for text, name in self._texts:
            found[name].append(text)
        return dict(found)

    def find_set(self, text: str) -> str:
        """Return the name of the set that has the text; empty where none has."""
        said = tokens_of(text)
        return self._find_run(said) or self._find_whole(said) or self._find_near(text)

    def find_in_long(self, text: str) -> str:
        """Return the name of a set of which a long text has a text, or a long part of one; empty where none."""
        said = tokens_of(text)
        return next((found for size in LONG if (found := self._find_long_run(said, size))), "")

    def _find_long_run(self, said: Sequence[str], size: int) -> str:
        in_a_row = 0
        for at in range(len(said) - size + 1):
            found = self._runs[size].get(tuple(said[at : at + size]), "")
            in_a_row = in_a_row + 1 if found else 0
            if in_a_row > LONG[size] - size:
                return found
        return ""

    def _find_run(self, said: Sequence[str]) -> str:
        for size, known in self._runs.items():
            for at in range(len(said) - size + 1):
                if found := known.get(tuple(said[at : at + size])):
                    return found
        return ""

    def _find_whole(self, said: Sequence[str]) -> str:
        if len(said) >= _run_length_of(said):
            return ""
        whole = _join_words(said)
        return next((name for other, name in self._whole if whole in other), "")

    def _find_near(self, text: str) -> str:
        if self._overlap is None:
            self._overlap = WordOverlap([known for known, _ in self._texts])
        near = self._overlap.find_near(text)
        return self._texts[max(near, key=lambda place: near[place])][1] if near else ""


def _runs_of(said: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield the runs by which a public text is known: all of the full length, or a shorter text as a whole."""
    size = _run_length_of(said)
    if len(said) < size:
        fewest = FEWEST_IDEOGRAPHS if size == IDEOGRAPHS else FEWEST_WORDS
        yield from [tuple(said)] if len(said) >= fewest else []
    yield from (tuple(said[at : at + size]) for at in range(len(said) - size + 1))


def _run_length_of(said: Sequence[str]) -> int:
    return IDEOGRAPHS if 2 * sum(is_ideograph(token) for token in said) >= len(said) else WORDS


def _join_words(said: Sequence[str]) -> str:
    """Join words with spaces around them, so that only whole words match."""
    return f" {' '.join(said)} "
