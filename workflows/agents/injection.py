"""Finding text that tries to instruct the agent which reads it. Rules with names, no model: a reader can be told why."""

import re
import tomllib
import unicodedata
from collections.abc import Iterator, Mapping
from functools import lru_cache
from importlib.resources import files
from typing import Any, NamedTuple

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
    """One pattern of a rule."""

    name: str
    pattern: re.Pattern[str]


class LanguageRules(NamedTuple):
    """The rules of one language, the sieve that tells which are worth trying, and what a text contains that speaks to anybody."""

    speaks: re.Pattern[str]
    rules: tuple[Rule, ...]
    sieve: Sieve


class Rules(NamedTuple):
    """The rules by language, and the sieve that tells in which of them a text may speak to anybody; most texts do in none."""

    languages: tuple[LanguageRules, ...]
    speaking: Sieve


def injections(text: str) -> tuple[Hit, ...]:
    """Where `text` tries to instruct its reader, in order. Looks through invisible characters and look-alike letters."""
    plain = _plain(text[:MAX_CHARS])
    languages, speaking = all_rules()
    hits = [hit for place in speaking.candidates(plain) for hit in _hits(languages[place], plain)]
    return tuple(sorted(hits, key=lambda hit: hit.start))


def _hits(language: LanguageRules, plain: str) -> Iterator[Hit]:
    for rule in [language.rules[place] for place in language.sieve.candidates(plain)]:
        if language.speaks.search(plain):
            yield from (Hit(rule.name, found.start(), found.end()) for found in rule.pattern.finditer(plain))


def names_of(hits: tuple[Hit, ...]) -> tuple[str, ...]:
    """The names of the rules that found something, each once, in alphabetical order."""
    return tuple(sorted({hit.rule for hit in hits}))


@lru_cache(maxsize=1)
def all_rules() -> Rules:
    """The rules of both languages, compiled once."""
    told = tomllib.loads(files("workflows.agents").joinpath("injection_rules.toml").read_text(encoding="utf-8"))
    languages = tuple(_of_language(told, language, pattern) for language, pattern in told["speaks"].items())
    return Rules(languages, Sieve(language.speaks.pattern for language in languages))


def _of_language(told: Mapping[str, Any], language: str, speaks: str) -> LanguageRules:
    rules = tuple(
        Rule(name, re.compile(_spelled(pattern, told["words"]), re.MULTILINE))
        for name, patterns in told["rules"].items()
        for pattern in patterns[language]
    )
    return LanguageRules(re.compile(speaks), rules, Sieve(rule.pattern.pattern for rule in rules))


def _spelled(pattern: str, words: dict[str, str]) -> str:
    """The pattern with its words put in, in small letters like the text it is held against (escapes such as \\W stay)."""
    whole = re.sub(r"%(\w+)%", lambda found: words[found.group(1)], pattern)
    return re.sub(r"\\.|[A-Z]", lambda found: found.group() if found.group()[0] == "\\" else found.group().lower(), whole)


def _plain(text: str) -> str:
    if text.isascii():
        return text.lower()
    seen = unicodedata.normalize("NFC", visible(text))
    return (seen.translate(_LATIN) if _DISGUISED.search(seen) else seen).lower()
