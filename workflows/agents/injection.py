"""Finding text that tries to instruct the agent which reads it. The rules have names, so that a reader can be told the reason."""

import re
import tomllib
import unicodedata
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from workflows.agents.untrusted import remove_invisible

HIDDEN = "hidden_text"
MAX_CHARS = 400_000
# Letters of other scripts and widths that look like Latin ones. Each maps to one character, so that offsets stay right.
_LOOKALIKES = dict(
    zip(
        "аеорсухіјѕԁһԛԝАВЕКМНОРСТУХІЈЅοαενικτυρΑΒΕΖΗΙΚΜΝΟΡΤΥΧıℓ’‘ʼ",
        "aeopcyxijsdhqwABEKMHOPCTYXIJSoaeviktupABEZHIKMNOPTYXil'''",
        strict=True,
    )
)
_FULL_WIDTH = {chr(code): chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F) if chr(code) not in "，；：！？（）"} | {
    "\u3000": " "
}
_LATIN = _LOOKALIKES | _FULL_WIDTH
_DISGUISED = re.compile(f"[{''.join(_LATIN)}]")


class InjectionHit(NamedTuple):
    """A stretch `[start, end)` of a text that a rule has found."""

    rule: str
    start: int
    end: int


class InjectionRule(NamedTuple):
    """One pattern of a rule."""

    name: str
    pattern: re.Pattern[str]


class LanguageRules(NamedTuple):
    """The rules of one language, and a quick test: `speaks` matches texts that address their reader, which most texts do not."""

    speaks: re.Pattern[str]
    rules: tuple[InjectionRule, ...]


def find_injections(text: str) -> tuple[InjectionHit, ...]:
    """Find where `text` tries to instruct its reader, in order. Invisible characters and look-alike letters do not hide it."""
    plain = _to_plain(text[:MAX_CHARS])
    spoken = [language for language in load_rules() if language.speaks.search(plain)]
    hits = [hit for language in spoken for rule in language.rules for hit in _find_hits(rule, plain)]
    return tuple(sorted(hits, key=lambda hit: hit.start))


def _find_hits(rule: InjectionRule, plain: str) -> Iterator[InjectionHit]:
    return (InjectionHit(rule.name, found.start(), found.end()) for found in rule.pattern.finditer(plain))


def names_of(hits: tuple[InjectionHit, ...]) -> tuple[str, ...]:
    """Return the names of the rules that found something, each once, in alphabetical order."""
    return tuple(sorted({hit.rule for hit in hits}))


@cache
def load_rules() -> tuple[LanguageRules, ...]:
    """Load the rules of both languages, compiled once."""
    told = tomllib.loads(files("workflows.agents").joinpath("injection_rules.toml").read_text(encoding="utf-8"))
    return tuple(_rules_of(told, language, pattern) for language, pattern in told["speaks"].items())


def _rules_of(told: Mapping[str, Any], language: str, speaks: str) -> LanguageRules:
    rules = tuple(
        InjectionRule(name, re.compile(_spell_out(pattern, told["words"]), re.MULTILINE))
        for name, patterns in told["rules"].items()
        for pattern in patterns[language]
    )
    return LanguageRules(re.compile(speaks), rules)


def _spell_out(pattern: str, words: dict[str, str]) -> str:
    """Put the words into the pattern, in lower case like the text it is matched with (escapes such as \\W stay)."""
    whole = re.sub(r"%(\w+)%", lambda found: words[found.group(1)], pattern)
    return re.sub(r"\\.|[A-Z]", lambda found: found.group() if found.group()[0] == "\\" else found.group().lower(), whole)


def _to_plain(text: str) -> str:
    composed = unicodedata.normalize("NFC", remove_invisible(text))
    return _DISGUISED.sub(lambda found: _LATIN[found.group()], composed).lower()
