"""Finding text that tries to instruct the agent which reads it. Rules with names, no model: a reader can be told why."""

import re
import tomllib
import unicodedata
from collections.abc import Iterator, Mapping
from functools import lru_cache
from importlib.resources import files
from typing import NamedTuple

from workflows.agents.sieve import Sieve
from workflows.agents.untrusted import visible

HIDDEN = "hidden_text"
MAX_CHARS = 400_000
# One character for one, so that places stay true: letters of other scripts and widths that look like Latin ones.
_LOOKALIKES = str.maketrans(
    "аеорсухіјѕԁһԛԝАВЕКМНОРСТУХІЈЅοαενικτυρΑΒΕΖΗΙΚΜΝΟΡΤΥΧıℓ’‘ʼ",
    "aeopcyxijsdhqwABEKMHOPCTYXIJSoaevikтupABEZHIKMNOPTYXil'''".replace("т", "t"),
)
_FULL_WIDTH = {code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F) if chr(code) not in "，；：！？（）"} | {0x3000: " "}
_LATIN: dict[int, int | str] = {**_LOOKALIKES, **_FULL_WIDTH}
_DISGUISED = re.compile(f"[{''.join(map(chr, _LATIN))}]")


class Hit(NamedTuple):
    """A stretch `[start, end)` of a text that a rule has found."""

    rule: str
    start: int
    end: int


class Rule(NamedTuple):
    """One pattern of a rule, and what a text must contain besides to speak to anybody in the rule's language."""

    name: str
    pattern: re.Pattern[str]
    speaks: re.Pattern[str]


class Rules(NamedTuple):
    """All rules, and the sieve that tells which of them are worth trying on a text."""

    rules: tuple[Rule, ...]
    sieve: Sieve


def injections(text: str) -> tuple[Hit, ...]:
    """Where `text` tries to instruct its reader, in order. Looks through invisible characters and look-alike letters."""
    plain = _plain(text[:MAX_CHARS])
    rules, sieve = all_rules()
    worth_trying = [rules[place] for place in sieve.candidates(plain)]
    hits = [
        Hit(rule.name, found.start(), found.end())
        for rule in worth_trying
        if rule.speaks.search(plain)
        for found in rule.pattern.finditer(plain)
    ]
    return tuple(sorted(hits, key=lambda hit: hit.start))


def names_of(hits: tuple[Hit, ...]) -> tuple[str, ...]:
    """The names of the rules that found something, each once, in alphabetical order."""
    return tuple(sorted({hit.rule for hit in hits}))


@lru_cache(maxsize=1)
def all_rules() -> Rules:
    """The rules of both languages, compiled once."""
    told = tomllib.loads(files("workflows.agents").joinpath("injection_rules.toml").read_text(encoding="utf-8"))
    speaks = {language: re.compile(pattern) for language, pattern in told["speaks"].items()}
    rules = tuple(_compiled(told["rules"], told["words"], speaks))
    return Rules(rules, Sieve(rule.pattern.pattern for rule in rules))


def _compiled(
    rules: Mapping[str, Mapping[str, list[str]]], words: dict[str, str], speaks: Mapping[str, re.Pattern[str]]
) -> Iterator[Rule]:
    for name, rule in rules.items():
        for language, spoken in speaks.items():
            for pattern in rule[language]:
                yield Rule(name, re.compile(_spelled(pattern, words), re.MULTILINE), spoken)


def _spelled(pattern: str, words: dict[str, str]) -> str:
    """The pattern with its words put in, in small letters like the text it is held against (escapes such as \\W stay)."""
    whole = re.sub(r"%(\w+)%", lambda found: words[found.group(1)], pattern)
    return re.sub(r"\\.|[A-Z]", lambda found: found.group() if found.group()[0] == "\\" else found.group().lower(), whole)


def _plain(text: str) -> str:
    if text.isascii():
        return text.lower()
    seen = unicodedata.normalize("NFC", visible(text))
    return (seen.translate(_LATIN) if _DISGUISED.search(seen) else seen).lower()
