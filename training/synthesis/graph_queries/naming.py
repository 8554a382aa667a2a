"""Names of entities: folding, aliases, which names are too common to find, and finding them in a text.

Words are matched whole, ideographs anywhere. A name inside a longer one, or shared by several entities, is found but unsure.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from app.domain.script import IDEOGRAPHS, count_ideographs
from retrieval.language.traditional import simplify
from retrieval.language.whole_names import find_name, stands_alone
from retrieval.language.word_lists import read_lists
from training.synthesis.graph_queries.nouns import Category

SHORTEST_WORD, FEWEST_IDEOGRAPHS, MOST_WORDS = 3, 2, 8
COMMON_IN_LOWER_CASE = 0.3
"""From this share of documents on that have a word in lower case, it is a common word."""
COMMON_PAIR = 0.003
"""A name of two ideographs that is in a larger share of the documents is a common word."""
MOST_BEARERS = 5
_ACCENTED = {
    code: unicodedata.normalize("NFKD", chr(code))[0].lower()
    for span in ((0xC0, 0x250), (0x1E00, 0x1F00))
    for code in range(*span)
}
_ACCENTED |= {ord(mark): plain for marks, plain in (("‘’ʼ", "'"), ("–—‐‑", "-"), ("・•", "·")) for mark in marks}
_BRACKETS = re.compile(r"\s*[(（][^()（）]*[)）]\s*$")
_TOKEN = re.compile(rf"[^\W_{IDEOGRAPHS}]+|([{IDEOGRAPHS}])")
_WORD = re.compile(rf"[^\W\d_{IDEOGRAPHS}]+")
_ALSO_KNOWN = re.compile(
    r"(?:also (?:known|called|spelled|written)(?: as)?|known as|abbreviated(?: as)?)[ :]+(?:the )?[\"“']?"
    r"([A-Z][\w'’.-]*(?: [A-Z][\w'’.-]*){1,4})"
)
_ALSO_KNOWN_ZH = re.compile(
    rf"(?:又称|又名|也称|亦称|简称|別名|别名|原名)(?:为|作)?[“「《]?([{IDEOGRAPHS}·]{{3,12}}?)(?=[”」》，。、；（）])"
)
_CALENDAR = read_lists("lists.toml", "training.synthesis.graph_queries")["calendar"]


def fold_in_place(text: str) -> str:
    """Return the text in lower case, without accents and in simplified ideographs. Every character keeps its place."""
    return text.lower() if text.isascii() else simplify(text).translate(_ACCENTED).lower()


def bare_name(title: str) -> str:
    """Return a title without what is in brackets at its end."""
    return _BRACKETS.sub("", title).strip() or title.strip()


def list_title_names(title: str) -> tuple[str, ...]:
    """Return a title without its brackets, and what stands before a comma in it: "Springfield" of "Springfield, Illinois"."""
    name = bare_name(title)
    before, comma, _ = name.partition(", ")
    return (name, before) if comma else (name,)


def list_qualifiers(title: str) -> dict[str, str]:
    """Return what a text has to say besides a shortened title, by the shortened one; both folded.

    A title has a comma or brackets because others bear the name. "Springfield" is "Springfield, Illinois" only where a text has
    the whole name, and "Mercury" is "Mercury (planet)" only where it has the last word in brackets.
    """
    name, short = bare_name(title), list_title_names(title)[1:]
    found = {fold_in_place(each): fold_in_place(name) for each in short}
    if bracketed := fold_in_place(title.strip())[len(name) :].strip(" ()（）").split():
        found[fold_in_place(name)] = bracketed[-1]
    return found


def find_aliases(title: str, opening: str) -> tuple[str, ...]:
    """Return other names: the title as it is, and what the first sentence calls the entity besides."""
    found = [title.strip(), *list_title_names(title), *_ALSO_KNOWN.findall(opening), *_ALSO_KNOWN_ZH.findall(opening)]
    name = fold_in_place(bare_name(title))
    return tuple(dict.fromkeys(alias for alias in found if fold_in_place(alias) != name))


def list_telling_names(name: str, aliases: Iterable[str], category: Category) -> tuple[str, ...]:
    """Return all names that would tell who is meant, with a person's last name or the parts of a foreign one."""
    parts = name.split("·") if "·" in name else name.split()[-1:] if category is Category.PERSON else []
    return tuple(dict.fromkeys((name, *aliases, *(part for part in parts if len(part) >= FEWEST_IDEOGRAPHS))))


def find_told(names: Iterable[str], text: str) -> str:
    """Return the first of these names that stands in a text, else nothing."""
    folded = fold_in_place(text)
    return next((name for name in names if find_name(fold_in_place(name), folded) >= 0), "")


def mask_names(names: Iterable[str], text: str) -> str:
    """Return the text without these names."""
    for name in sorted(map(fold_in_place, names), key=len, reverse=True):
        while (at := find_name(name, fold_in_place(text))) >= 0:
            text = f"{text[:at]} {text[at + len(name) :]}"
    return " ".join(text.split())


class WordUse:
    """Counts in how many documents the short names of a corpus stand, and in how many of them in lower case."""

    def __init__(self, names: Iterable[str]) -> None:
        folded = {fold_in_place(name) for name in names}
        self._words = {name for name in folded if " " not in name and not count_ideographs(name)}
        self._pairs = {name for name in folded if len(name) == FEWEST_IDEOGRAPHS == count_ideographs(name)}
        self._used = Counter[str]()
        self._lower = Counter[str]()
        self._documents = 0

    def read(self, text: str) -> None:
        """Count a document."""
        self._documents += 1
        words = set(_WORD.findall(text))
        self._lower.update(self._words & {word for word in words if word.islower()})
        self._used.update(self._words & {fold_in_place(word) for word in words})
        if self._pairs and count_ideographs(text[:400]):
            folded = fold_in_place(text)
            self._used.update(self._pairs & {folded[at : at + 2] for at in range(len(folded) - 1)})

    def is_usable(self, name: str) -> bool:
        """Say whether finding a name in a text means that the entity is meant."""
        folded = fold_in_place(name)
        if count_ideographs(folded):
            return len(folded) > FEWEST_IDEOGRAPHS or (
                folded in self._pairs and self._used[folded] <= COMMON_PAIR * self._documents
            )
        if " " in folded:
            return len(folded.split()) <= MOST_WORDS
        usable = len(folded) >= SHORTEST_WORD and folded.isalpha() and folded not in _CALENDAR
        return usable and self._lower[folded] < max(1.0, COMMON_IN_LOWER_CASE * self._used[folded])


class Mention(NamedTuple):
    """A name at `[start, end)` of a text. `nodes` are those that bear it."""

    start: int
    end: int
    nodes: tuple[int, ...]
    sure: bool


class NameFinder:
    """Finds names of entities in texts. Names are folded; each is looked up by how it begins."""

    def __init__(self, bearers: Mapping[str, tuple[int, ...]]) -> None:
        self._by_head: dict[str, list[str]] = {}
        self._bearers = bearers
        for name in sorted(bearers, key=lambda name: (-len(name), name)):
            self._by_head.setdefault(_head_of(name), []).append(name)

    def find(self, text: str) -> Iterator[Mention]:
        """Yield the names in a text by their place, longer ones first."""
        folded, covered = fold_in_place(text), 0
        for token in _TOKEN.finditer(folded):
            at, end = token.span()
            heads = (folded[at : at + 2],) if token.group(1) else (folded[at : end + 2], folded[at:end])
            for name in (name for head in heads for name in self._by_head.get(head, ())):
                if folded.startswith(name, at) and stands_alone(name, folded, at):
                    end, nodes = at + len(name), self._bearers[name]
                    yield Mention(at, end, nodes, sure=end > covered and len(nodes) == 1)
                    covered = max(covered, end)


def _head_of(name: str) -> str:
    """Return the first word with two characters more, or the first two ideographs."""
    first = _TOKEN.match(name)
    if first is None:
        return ""
    return name[:2] if first.group(1) else name[: first.end() + 2]
