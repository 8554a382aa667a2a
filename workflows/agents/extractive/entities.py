"""Whose page a passage is on: that of something the question names, of something else of a like name, or neither."""

import re
from collections.abc import Iterable

from workflows.agents.extractive.hits import Hit
from workflows.agents.extractive.names import bare_title, head_of
from workflows.agents.extractive.question import Question
from workflows.agents.extractive.words import is_light, terms, unaccented

_WORD = re.compile(r"\w+")


class Entities:
    """The things a question names, as far as titles of passages show them.

    A title names one when its words stand together in the question and are not part of a longer name there: "Empire" is not
    the Ajuran Empire. Once a name of the question has its title, others like it are namesakes: Heinkel HD 55 is not HD 23.
    """

    def __init__(self, question: Question) -> None:
        self._asked = _spaced(question.text)
        self._names = [_spaced(name) for name in question.names]
        self._terms = {term for name in question.names for term in terms(name) if not is_light(term)}
        self._known: set[str] = set()

    def learn(self, hits: Iterable[Hit]) -> None:
        """Take in the titles of passages found."""
        for hit in hits:
            self._known.update(name for name in _forms(hit) if self._is_named(name))

    def named(self, hit: Hit) -> bool:
        """Whether a passage's title is something the question names."""
        return any(form in self._known for form in _forms(hit))

    def mentioned(self, hit: Hit) -> bool:
        """Whether a passage holds a telling word of one of the question's names; any passage does where it has none."""
        return not self._terms or not self._terms.isdisjoint(hit.terms)

    def namesake(self, hit: Hit) -> bool:
        """Whether a passage is about something else that shares part of a name which has a title of its own."""
        if self.named(hit):
            return False
        own = set(hit.title.split())
        return any(own & {t for t in terms(name) if not is_light(t)} for name in self._known)

    def _is_named(self, title: str) -> bool:
        return title.strip() != "" and title in self._asked and not any(title in name and title != name for name in self._names)


def _forms(hit: Hit) -> tuple[str, ...]:
    title = hit.passage.source.title
    return _spaced(bare_title(title)), _spaced(head_of(title))


def _spaced(text: str) -> str:
    return f" {' '.join(_WORD.findall(unaccented(text.lower())))} "
