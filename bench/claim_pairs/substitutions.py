"""Substitutions of words from lists: what stands in a sentence, and what is put in its place."""

import re
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from random import Random
from typing import Any

from app.domain.query import Language

NAMES = {Language.ENGLISH: "en", Language.CHINESE: "zh"}
_BLANKS = re.compile(r"\s{2,}")
_LOOKS_AHEAD = re.compile(r"\(\?[=!][^()]*(?:\([^()]*\))?[^()]*\)$")
_NEGATED = re.compile(r" (?:not) ")


@cache
def load_wordings() -> Mapping[str, Any]:
    """Load the lists of this package."""
    return tomllib.loads(files(__package__).joinpath("wordings.toml").read_text(encoding="utf-8"))


def substitute(sentence: str, rules: Mapping[str, str], language: Language, draw: Random) -> str | None:
    """Replace one place that a rule matches, both chosen at random; None where no rule matches."""
    for pattern in draw.sample(sorted(rules), len(rules)):
        found = list(_compile(pattern, language).finditer(sentence))
        if found:
            return tidy(_replace(sentence, draw.choice(found), rules[pattern]), language)
    return None


def _replace(sentence: str, found: re.Match[str], replacement: str) -> str:
    said = _NEGATED.sub(" ", found.group()) if replacement == r"\g<0>" else replacement
    if found.group()[:1].isupper() and not found.group()[1:2].isupper():
        said = said[:1].upper() + said[1:]
    return sentence[: found.start()] + said + sentence[found.end() :]


@cache
def _compile(pattern: str, language: Language) -> re.Pattern[str]:
    if language is Language.CHINESE:
        return re.compile(pattern)
    left = "" if pattern.startswith(("(?<", "\\b")) else r"(?<![A-Za-z])"
    right = "" if _LOOKS_AHEAD.search(pattern) else r"(?![A-Za-z])"
    return re.compile(f"{left}(?:{pattern}){right}", re.IGNORECASE if pattern.islower() and "[a-z]" not in pattern else 0)


def tidy(sentence: str, language: Language) -> str:
    """Return a sentence with single blanks; an English one begins with a capital."""
    text = _BLANKS.sub(" ", sentence).replace(" ,", ",").replace(" .", ".").strip()
    return text if language is Language.CHINESE or not text else text[0].upper() + text[1:]


def choose_other(options: Iterable[str], known: str, draw: Random) -> str | None:
    """Return one of the options that does not occur in the known text."""
    fresh = [option for option in options if option.lower() not in known.lower()]
    return draw.choice(fresh) if fresh else None
