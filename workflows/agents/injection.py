"""Finding text that tries to instruct the agent which reads it. The rules have names, so that a reader can be told the reason.

Two finders share the names: patterns of known attacks (injection_rules.toml), and sentences that order an automated reader about
(injection_signs.py). What a text quotes or is about is no order.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from itertools import groupby
from typing import Any, NamedTuple

from workflows.agents.injection_signs import (
    InjectionHit,
    ReaderWords,
    blank_quotes,
    find_lone_orders,
    find_signs,
    is_language_of,
    load_reader_words,
    split_sentences,
)
from workflows.agents.plain_letters import compile_plain, to_plain

HIDDEN = "hidden_text"
MAX_CHARS = 400_000
COMMAND_ANYWHERE = frozenset({"instruction_override", "addressed_to_a_model", "exfiltration", "fake_tool_call"})
"""Rules whose patterns are so clear that a text about prompts is excused only for what it quotes or tells of others."""
MANY = 20
"""A text with more finds than this is excused for none: nobody prints so many examples in a passage."""
ENOUGH = 2
"""So many words elsewhere make it a text about machines, prompts, writing or contracts."""
GUIDE_SENTENCES, GUIDE_SHARE = 4, 0.5
"""So many sentences, of which such a share orders something, make a guide."""
QUOTED = "quoted"
BEFORE_CHARS = 80


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


def is_quoted(hit: InjectionHit, unquoted: str) -> bool:
    """Tell whether a hit lies wholly in a quote; `unquoted` is the text with its quotes blanked."""
    return not unquoted[hit.start : hit.end].strip()


def is_told_to_others(plain: str, hit: InjectionHit, words: ReaderWords) -> bool:
    """Tell whether the text reports that somebody else gets this order, or that it is about somebody else's prompt."""
    before = plain[max(0, hit.start - BEFORE_CHARS) : hit.start]
    return bool(
        (words.told_to_others and words.told_to_others.search(before))
        or (words.of_others and words.of_others.search(plain[hit.start : hit.end]))
    )


def is_subject_of_text(plain: str, rule: str, hit: InjectionHit, words: ReaderWords, hits: Sequence[InjectionHit]) -> bool:
    """Tell whether the text, apart from the sentences with hits beside this one, is about what the rule looks for."""
    pattern = words.spoken_of.get(rule)
    if pattern is None:
        return False
    start, end = _join_neighbours(plain, hit, hits)
    return sum(not start <= found.start() < end for found in pattern.finditer(plain)) >= ENOUGH


def is_guide(unquoted: str, words: ReaderWords) -> bool:
    """Tell whether a text orders its readers about throughout: then they are people who write, cite, judge or sign something."""
    spans = list(split_sentences(unquoted))
    orders = sum(words.orders.search(unquoted, start, end) is not None for start, end in spans)
    return len(spans) >= GUIDE_SENTENCES and orders >= GUIDE_SHARE * len(spans)


def _join_neighbours(plain: str, hit: InjectionHit, hits: Sequence[InjectionHit]) -> tuple[int, int]:
    """Return the run of sentences with hits in which a hit stands, because one order may take several."""
    for has_hit, run in groupby(
        split_sentences(plain), lambda span: any(one.start < span[1] and span[0] < one.end for one in hits)
    ):
        spans = list(run)
        if has_hit and spans[0][0] <= hit.start < spans[-1][1]:
            return spans[0][0], spans[-1][1]
    return hit.start, hit.end
