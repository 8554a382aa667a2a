"""Finding text that tries to instruct the agent which reads it. The rules have names, so that a reader can be told the reason.

Two finders share the names: patterns of known attacks (injection_rules.toml), and sentences that order an automated reader about
(injection_signs.py). What a text quotes or is about is no order (injection_context.py).
"""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from workflows.agents.injection_context import QUOTED, is_guide, is_quoted, is_subject_of_text, is_told_to_others
from workflows.agents.injection_signs import (
    InjectionHit,
    ReaderWords,
    blank_quotes,
    find_lone_orders,
    find_signs,
    is_language_of,
    load_reader_words,
)
from workflows.agents.plain_letters import compile_plain, to_plain

HIDDEN = "hidden_text"
MAX_CHARS = 400_000
COMMAND_ANYWHERE = frozenset({"instruction_override", "addressed_to_a_model", "exfiltration", "fake_tool_call"})
"""Rules whose patterns are so clear that a text about prompts is excused only for what it quotes or tells of others."""
MANY = 20
"""A text with more finds than this is excused for none: nobody prints so many examples in a passage."""


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
    plain = to_plain(text[:MAX_CHARS])
    unquoted = blank_quotes(plain)
    hits = [hit for language, words in load_reader_words().items() for hit in _find_in_language(plain, unquoted, language, words)]
    return tuple(sorted(hits, key=lambda hit: hit.start))


def _find_in_language(plain: str, unquoted: str, language: str, words: ReaderWords) -> tuple[InjectionHit, ...]:
    known = tuple(_find_known(plain, language))
    signs = (*find_signs(unquoted, words), *find_lone_orders(unquoted, words)) if is_language_of(plain, words) else ()
    hits = (*known, *signs)
    if len(hits) > MANY:
        return hits
    guide = is_guide(unquoted, words) if hits else False
    orders = (hit for hit in signs if not guide and not is_subject_of_text(plain, hit.rule, hit, words, hits))
    clear = (hit for hit in known if not _is_excused(plain, unquoted, hit, words, hits, guide=guide))
    return (*clear, *orders)


def _is_excused(
    plain: str, unquoted: str, hit: InjectionHit, words: ReaderWords, hits: Sequence[InjectionHit], *, guide: bool
) -> bool:
    """Tell whether a pattern has found what a text says about orders to others."""
    if is_quoted(hit, unquoted) and is_subject_of_text(plain, QUOTED, hit, words, hits):
        return True
    if hit.rule in COMMAND_ANYWHERE:
        return is_told_to_others(plain, hit, words)
    return guide or is_subject_of_text(plain, hit.rule, hit, words, hits)


def _find_known(plain: str, language: str) -> Iterator[InjectionHit]:
    entry = load_rules().get(language)
    if entry is None or not entry.speaks.search(plain):
        return
    for rule in entry.rules:
        yield from (InjectionHit(rule.name, found.start(), found.end()) for found in rule.pattern.finditer(plain))


def names_of(hits: tuple[InjectionHit, ...]) -> tuple[str, ...]:
    """Return the names of the rules that found something, each once, in alphabetical order."""
    return tuple(sorted({hit.rule for hit in hits}))


@cache
def load_rules() -> Mapping[str, LanguageRules]:
    """Load the patterns of both languages, compiled once."""
    told = tomllib.loads(files("workflows.agents").joinpath("injection_rules.toml").read_text(encoding="utf-8"))
    return {language: _rules_of(told, language, pattern) for language, pattern in told["speaks"].items()}


def _rules_of(told: Mapping[str, Any], language: str, speaks: str) -> LanguageRules:
    rules = tuple(
        InjectionRule(name, compile_plain(_spell_out(pattern, told["words"])))
        for name, patterns in told["rules"].items()
        for pattern in patterns[language]
    )
    return LanguageRules(re.compile(speaks), rules)


def _spell_out(pattern: str, words: dict[str, str]) -> str:
    """Put the words into the pattern."""
    return re.sub(r"%(\w+)%", lambda found: words[found.group(1)], pattern)
