"""Finding sentences that order an automated reader about: words of eight languages, and how they meet in a sentence.

One word proves nothing: "your answer" stands in every exercise, "AI" in every policy. A sentence counts if it orders something
and names this reader, or what only this reader writes or holds; or if it alone in its text speaks to anybody, about answering.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from workflows.agents.plain_letters import compile_plain, fold_letters

SENTENCE_CHARS = 600
LONE_CHARS, LONE_SHARE, LONE_RULE = 220, 0.45, "dictated_answer"
_END = re.compile(r"[。！？؟\n]|[.!?](?=[\s\"”»<]|$)")
_MARKS = (('"', '"'), ("“", "”"), ("„", "“”"), ("«", "»"), ("»", "«"), ("「", "」"), ("『", "』"))
_QUOTED = (f"{begin}[^{begin}{ends}\n]{{1,400}}[{ends}]" for begin, ends in _MARKS)
_SINGLE_QUOTED = r"(?<!\w)'(?:[^'\n]|(?<=\w)'(?=\w)){10,400}'(?!\w)"
_QUOTES = re.compile("|".join(("```[^`]{0,2000}```", "`[^`\n]{1,400}`", *_QUOTED, _SINGLE_QUOTED)))


class InjectionHit(NamedTuple):
    """A stretch `[start, end)` of a text that a rule has found."""

    rule: str
    start: int
    end: int


class Sign(NamedTuple):
    """Patterns that must all be found in one sentence, for the rule `name`."""

    name: str
    patterns: tuple[re.Pattern[str], ...]


class ReaderWords(NamedTuple):
    """The words of one language.

    common: a text of the language has one of these. stems: a sentence with a sign has one of these.
    spoken_of: by rule, words of texts that are about such orders. orders: what any order contains. addressed: what speaks to
    somebody. work: what a writer of answers works on. told_to_others, of_others: before and at the end of an order to others.
    """

    common: tuple[str, ...]
    stems: tuple[str, ...]
    signs: tuple[Sign, ...]
    spoken_of: Mapping[str, re.Pattern[str]]
    orders: re.Pattern[str]
    addressed: re.Pattern[str]
    work: re.Pattern[str]
    told_to_others: re.Pattern[str] | None
    of_others: re.Pattern[str] | None


def is_language_of(plain: str, words: ReaderWords) -> bool:
    """Tell whether some of a plain text may be in the language."""
    return any(word in plain for word in words.common)


def find_signs(unquoted: str, words: ReaderWords) -> Iterator[InjectionHit]:
    """Find the sentences of a plain text without quotes that order an automated reader about."""
    stems = [stem for stem in words.stems if stem in unquoted]  # much faster than a pattern, and most texts end here
    for start, end in split_sentences(unquoted) if stems else ():
        sentence = unquoted[start:end]
        if any(stem in sentence for stem in stems):
            yield from (
                InjectionHit(sign.name, start, end) for sign in words.signs if all(p.search(sentence) for p in sign.patterns)
            )


def find_lone_orders(unquoted: str, words: ReaderWords) -> Iterator[InjectionHit]:
    """Find short sentences about answering and its sources that order somebody, where all others speak to nobody."""
    if not words.addressed.search(unquoted):
        return
    spans = [span for span in split_sentences(unquoted) if unquoted[span[0] : span[1]].strip()]
    spoken = [i for i, span in enumerate(spans) if _matches_one(unquoted[slice(*span)], words.addressed, words.orders)]
    if not spoken or len(spoken) >= LONE_SHARE * len(spans) or spoken[-1] - spoken[0] >= len(spoken):
        return
    for i in spoken:
        sentence = unquoted[slice(*spans[i])]
        if len(sentence) <= LONE_CHARS and all(
            pattern.search(sentence) for pattern in (words.addressed, words.orders, words.work)
        ):
            yield InjectionHit(LONE_RULE, *spans[i])


def _matches_one(sentence: str, *patterns: re.Pattern[str]) -> bool:
    return any(pattern.search(sentence) for pattern in patterns)


def split_sentences(plain: str) -> Iterator[tuple[int, int]]:
    """Yield where each sentence begins and ends; a long one comes in pieces that overlap."""
    start = 0
    for end in (*(found.end() for found in _END.finditer(plain)), len(plain)):
        for at in range(start, end, SENTENCE_CHARS):
            yield at, min(end, at + 2 * SENTENCE_CHARS)
        start = end


def blank_quotes(plain: str) -> str:
    """Put spaces in place of what stands between quotation marks or in code."""
    return _QUOTES.sub(lambda found: " " * len(found.group()), plain)


@cache
def load_reader_words() -> Mapping[str, ReaderWords]:
    """Load the words of each language, compiled once."""
    told = tomllib.loads(files("workflows.agents").joinpath("reader_words.toml").read_text(encoding="utf-8"))
    signs, spoken_of = told.pop("signs"), told.pop("spoken_of")
    return {language: _compile_words(entries, signs, spoken_of) for language, entries in told.items()}


def _compile_words(
    entries: Mapping[str, list[str]], signs: Mapping[str, list[list[str]]], spoken_of: Mapping[str, list[str]]
) -> ReaderWords:
    verbs = "".join(entries.get("verbs", ()))
    patterns = {name: compile_plain("|".join(entry).replace("%verbs%", verbs)) for name, entry in entries.items()}
    return ReaderWords(
        common=tuple(fold_letters(word) for word in entries["common"]),
        stems=tuple(fold_letters(stem) for stem in entries["stems"]),
        signs=tuple(Sign(rule, tuple(patterns[name] for name in sign)) for rule, ways in signs.items() for sign in ways),
        spoken_of={rule: _compile_entries(entries, names) for rule, names in spoken_of.items()},
        orders=patterns["order"],
        addressed=patterns["addressed"],
        work=patterns["work"],
        told_to_others=patterns.get("told_to_others"),
        of_others=patterns.get("of_others"),
    )


def _compile_entries(entries: Mapping[str, list[str]], names: Sequence[str]) -> re.Pattern[str]:
    return compile_plain("|".join(word for name in names for word in entries[name]))
