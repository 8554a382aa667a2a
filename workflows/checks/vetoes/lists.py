"""The lists of words that vetoes read, ready to be looked up in a text."""

import re
import tomllib
from collections.abc import Iterable, Mapping
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from app.domain.script import is_ideograph
from retrieval.language.stems import find_root


class MarkerClass(StrEnum):
    """What a marker does to what is said near it."""

    NEGATION = "negation"
    OPEN = "open"
    AHEAD = "ahead"
    CERTAIN = "certain"
    ONLY = "only"
    ALSO = "also"
    ALL = "all"
    MOST = "most"
    MANY = "many"
    SOME = "some"
    FEW = "few"
    ONE_OF = "one_of"


class WordLists(NamedTuple):
    """The markers' patterns by class; `apart` finds what only looks like one."""

    apart: re.Pattern[str]
    markers: Mapping[MarkerClass, re.Pattern[str]]
    bounds: Mapping[str, re.Pattern[str]]
    pronouns: re.Pattern[str]
    stand_ins: re.Pattern[str]
    frames: re.Pattern[str]
    grammar: frozenset[str]


class Relation(NamedTuple):
    """A relation's words: `forward` ones stand after their first member, `backward` ones before it."""

    name: str
    forward: re.Pattern[str]
    backward: re.Pattern[str]
    apart: re.Pattern[str]


class WordGroups(NamedTuple):
    """Groups of words by word. English words are named by their roots; phrases have blanks."""

    members: Mapping[str, frozenset[int]]
    phrases: Mapping[int, tuple[str, ...]]


def _load(name: str) -> dict[str, Any]:
    return tomllib.loads(files(__package__).joinpath(name).read_text(encoding="utf-8"))


def _split(text: str) -> list[str]:
    return [phrase for part in text.split(",") if (phrase := " ".join(part.split()))]


def _compile(phrases: Iterable[str]) -> re.Pattern[str]:
    ordered = sorted(phrases, key=len, reverse=True)
    latin = [re.escape(phrase) for phrase in ordered if not is_ideograph(phrase[0])]
    chinese = [re.escape(phrase) for phrase in ordered if is_ideograph(phrase[0])]
    shortened = [phrase for phrase in latin if phrase.startswith("n") and phrase.endswith("t") and not phrase.isalpha()]
    words = [phrase for phrase in latin if phrase not in shortened]
    forms = ([rf"(?<![\w-])(?:{'|'.join(words)})(?![\w-])"] if words else []) + shortened + chinese
    return re.compile("|".join(forms))


@cache
def load_lists() -> WordLists:
    """Load the markers."""
    written = _load("markers.toml")
    told = {name: _split(text) for name, text in written.items()}
    bounds = ("at_least", "at_most", "about", "exactly", "above_after", "below_after")
    return WordLists(
        apart=_compile(told["apart"]),
        markers={each: _compile(told[each.value]) for each in MarkerClass},
        bounds={name: _compile(told[name]) for name in bounds},
        pronouns=_compile(told["pronouns"]),
        stand_ins=_compile(told["stand_ins"]),
        frames=_compile(told["frames"]),
        grammar=frozenset(written["grammar"].split()),
    )


@cache
def load_relations() -> tuple[Relation, ...]:
    """Load the relations."""
    return tuple(
        Relation(name, *(_compile(_split(told[part])) for part in ("forward", "backward", "apart")))
        for name, told in _load("relations.toml").items()
    )


@cache
def load_synonyms() -> WordGroups:
    """Load the groups of words that mean the same."""
    lines = [line.split() for line in _load("synonyms.toml")["groups"].strip().split("\n")]
    members: dict[str, set[int]] = {}
    for number, line in enumerate(lines):
        for word in line:
            members.setdefault(key_of(word.replace("_", " ")), set()).add(number)
    phrases = {number: tuple(word.replace("_", " ") for word in line) for number, line in enumerate(lines)}
    return WordGroups({word: frozenset(groups) for word, groups in members.items()}, phrases)


@cache
def compile_chinese_opposites() -> re.Pattern[str]:
    """Return the pattern of all Chinese words of more than one ideograph, or of one, that have an opposite."""
    words = [word for word in load_opposites() if is_ideograph(word[0])]
    return re.compile("|".join(re.escape(word) for word in sorted(words, key=len, reverse=True)))


@cache
def load_opposites() -> Mapping[str, frozenset[str]]:
    """Load, by word, the words that mean the opposite; English words by their lower-case forms."""
    found: dict[str, set[str]] = {}
    for line in _load("antonyms.toml")["pairs"].strip().split("\n"):
        one, other = (side.split() for side in line.split("|"))
        for side, against in ((one, other), (other, one)):
            for word in side:
                found.setdefault(word, set()).update(set(against) - set(side))
    return {word: frozenset(words) for word, words in found.items()}


def key_of(phrase: str) -> str:
    """Return the name of a word or phrase in lists: the root of an English word, anything else as it is."""
    return find_root(phrase) if phrase.isascii() and " " not in phrase else phrase
