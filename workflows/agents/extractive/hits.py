"""What searches brought back, each passage once, with what it shares with the question."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from app.domain.evidence import Passage
from workflows.agents.extractive.names import bare_title
from workflows.agents.extractive.period import Period
from workflows.agents.extractive.sentences import Sentence, sentences_of
from workflows.agents.extractive.words import terms


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage with its terms (title and author included), its title's terms as one string, and its sentences."""

    passage: Passage
    terms: frozenset[str]
    title: str
    sentences: tuple[Sentence, ...]

    @property
    def key(self) -> str:
        """The passage's content address."""
        return self.passage.key

    @property
    def year(self) -> int | None:
        """The year its source was published, where known."""
        published = self.passage.source.published
        return published.year if published else None


def joined_terms(text: str) -> str:
    """The terms of a text as one string with a blank at either end, so that `in` finds whole terms only."""
    return f" {' '.join(terms(text))} "


def hit_of(passage: Passage) -> Hit:
    """A passage as a hit."""
    sentences = tuple(sentences_of(passage))
    own = frozenset(term for sentence in sentences for term in sentence.terms)
    source = passage.source
    named = frozenset(terms(f"{source.title} {source.author}"))
    return Hit(passage, own | named, joined_terms(bare_title(source.title)), sentences)


class Hits:
    """All passages seen by one agent. Those from outside the asked-for years count only when there are no others."""

    def __init__(self, period: Period) -> None:
        self._period = period
        self._seen: dict[str, Hit] = {}
        self._outside: dict[str, Hit] = {}

    def add(self, passages: Iterable[Passage]) -> list[Hit]:
        """Take in what a search returned; gives the hits to use, in its order, those seen before included."""
        used: list[Hit] = []
        for passage in passages:
            key = passage.key
            hit = self._seen.get(key) or self._outside.get(key) or hit_of(passage)
            if self._period.holds(hit.year):
                self._seen[key] = hit
                used.append(hit)
            else:
                self._outside[key] = hit
        return used

    def __iter__(self) -> Iterator[Hit]:
        return iter(list(self._seen.values()))

    def __len__(self) -> int:
        return len(self._seen)

    @property
    def outside(self) -> tuple[Hit, ...]:
        """Hits from outside the asked-for years."""
        return tuple(self._outside.values())

    def relax(self) -> tuple[Hit, ...]:
        """Give up the years asked for and use what lies outside them; returns what that brought."""
        freed = self.outside
        self._seen.update(self._outside)
        self._outside.clear()
        self._period = Period()
        return freed
