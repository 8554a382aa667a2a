"""Tell which collections have passages that fit a question, so that these can be offered to its asker.

By meaning where the encoder knows the question's language: one passage is near enough to the question. Else by words: the best
passages together hold enough of the question's words, of a Chinese question enough of its pairs of characters.

The limits were fitted on 66 questions, each compared with five collections of which at most one is about it, and checked on 66
questions about five others (docs/retrieval.md).
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from time import monotonic

from app.domain.errors import NotFound, ToolError
from app.domain.evidence import Passage
from app.domain.query import Language, detect_language
from retrieval.building.build import index_text
from retrieval.language.tokens import list_stems
from retrieval.ports import SearchFilter
from retrieval.search.library import Library

BEST_PASSAGES = 3
NEAR = 0.25
"""The least cosine between a question and a passage that fits it."""
SHARED_WORDS: Mapping[Language, float] = {Language.ENGLISH: 1 / 3, Language.CHINESE: 0.1}
"""The least share of a question's words in the best passages, where there is no vector to compare."""
TIME_LIMIT = timedelta(seconds=1.5)


class FittingCollections:
    """Finds the collections that fit a question. Its method blocks; threads may share it."""

    def __init__(self, library: Library) -> None:
        self._library = library

    def find(self, question: str, where: SearchFilter, longest: timedelta = TIME_LIMIT) -> list[str]:
        """Return those of `where.collections` that fit the question, the best first.

        Left out are collections that cannot be searched yet, that do not exist for `where.tenant`, and those that are not
        reached within `longest`.
        """
        measured, until = {}, monotonic() + longest.total_seconds()
        for name in filter(self._library.is_ready, where.collections):
            if monotonic() >= until:
                break
            with suppress(NotFound, ToolError):
                one = where.model_copy(update={"collections": (name,)})
                measured[name] = self._measure(question, self._library.search(question, BEST_PASSAGES, one))
        return sorted((name for name, fit in measured.items() if fit >= 1), key=lambda name: -measured[name])

    def _measure(self, question: str, passages: Sequence[Passage]) -> float:
        """Return how well these passages fit the question, as a multiple of what is enough."""
        if not passages:
            return 0.0
        texts = [index_text(passage.source.title, passage.text) for passage in passages]
        cosines = self._library.compare(question, texts)
        return max(cosines) / NEAR if cosines else _share_words(question, texts) / SHARED_WORDS[detect_language(question)]


def _share_words(question: str, texts: Sequence[str]) -> float:
    asked = set(list_stems(question))
    found = asked.intersection(list_stems("\n".join(texts)))
    return len(found) / len(asked) if asked else 0.0
