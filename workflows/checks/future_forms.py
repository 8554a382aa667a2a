"""Finding the words that speak of something as still to come, in English and Chinese, from lists (`tense_forms.toml`)."""

import re
from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple

from retrieval.language.word_lists import read_lists

_LISTS = read_lists("tense_forms.toml", "workflows.checks")


class FutureKind(StrEnum):
    """How surely a form foretells: always, only with a deadline, or only where nothing is told as past."""

    SURE = "sure"
    WEAK = "weak"
    REDUCED = "reduced"


class FutureForm(NamedTuple):
    """`[start, end)` in the text, of words that foretell."""

    start: int
    end: int
    kind: FutureKind


def join_words(name: str) -> str:
    """Return one list as the alternatives of a pattern, the longest first; "_" stands for white space."""
    words = sorted(_LISTS[name], key=len, reverse=True)
    return "|".join(re.escape(word).replace("_", r"\s+") for word in words)


_NOT_A_NOUN = "".join(
    rf"(?<!{'' if word.startswith(chr(39)) else chr(92) + 'b'}(?i:{re.escape(word)}) )" for word in _LISTS["before_the_noun_will"]
)
_BE = r"(?:\b(?:is|are|be|looks?|seems?|appears?|remains?|stands?)|(?<=\w)['’](?:s|re))(?:n['’]t)?(?:\s+(?:not|now|still|also|[a-z]+ly))*"  # noqa: E501  (one alternative of the pattern)
_DUE_TO = rf"due\s+to\s+(?!(?:{join_words('outcomes')})\b)"
_SURE = re.compile(
    rf"{_NOT_A_NOUN}\bwill\b(?!\s+(?:{join_words('after_the_noun_will')})\b)|\bwon['’]t\b|\w['’]ll\b|(?<!I )(?<!we )\bshall\b"
    rf"|{_BE}\s+(?!{_DUE_TO})(?!estimated\s+to\s+(?:be|have)\b)(?:{join_words('foretold')})\s+(?:to\b(?!\s+(?:the|an?)\b)|(?=for\b))"
    rf"|{_BE}\s+(?:{join_words('foretold_at_a_date')})\s+(?=(?:at|in|by|on|out|for|during|from|until|before|after|sometime)\b)"
    rf"|\b(?:is|are)\s+(?:not\s+|now\s+)?to\s+(?!(?:blame|date|the|an?)\b)(?=[a-z]+)|{_BE}\s+(?:seen|head(?:ed|ing)\s+for)\b(?=\s+\w)"
    rf"|\b(?:{join_words('planning_verbs')})\s+to\b|\b(?:{join_words('expecting_verbs')})\b"
)
_WEAK = re.compile(rf"\b(?:{join_words('weak_modals')})\b(?!\s+(?:not\s+)?have\b)")
_REDUCED = re.compile(
    rf"(?<!been )(?<!was )(?<!were )(?:\b(?:{join_words('reduced_with_in')})\s+(?=(?:in|by|out|on)\b)|\b(?:{join_words('reduced_with_for')})\s+(?=for\b)"  # noqa: E501  (one alternative of the pattern)
    rf"|(?!{_DUE_TO})\b(?:{join_words('foretold_of_a_noun')})\s+to\b)|\bto\s+be\s+\w+(?:ed|en)\b"
)
_UPCOMING = re.compile(rf"\b(?:{join_words('upcoming')})\s+(?=(?:\w+\s+)?(?:1[89]|2[01])\d\d\b)")
_VERB = rf"(?:{join_words('adverbs_zh')})*(?:{join_words('verbs_zh')}|{join_words('leads_zh')})"
_CERTAIN_VERB = rf"(?:{join_words('adverbs_zh')})*(?:{'|'.join(verb for verb in _LISTS['verbs_zh'] if len(verb) > 1)})"
_YEAR = r"(?:1[89]|20|21)\d\d"
_CHINESE_SURE = re.compile(
    rf"(?<![名大麻干])将(?![军领士近信])(?:{_VERB}|(?:{join_words('adverbs_zh')}))|{join_words('foretold_zh')}|(?<![决确规认判设])定[于在]|预定(?=[于在将可]|{_YEAR}|{_CERTAIN_VERB})"
    rf"|(?:计划|拟)(?={_YEAR}|{_CERTAIN_VERB})|(?<!原)(?:预计|预期)"
    rf"|(?<![{''.join(_LISTS['before_the_noun_hui'])}])(?<!\d年年)会(?={_CERTAIN_VERB}|[于在]\d)|可能(?!是)(?={_VERB})"
)
_CHINESE_WEAK = re.compile(r"(?<![需只主重必])要(?![求素点约])|必?须|需(?![求方])")
_DISPOSAL = re.compile(rf"将(?![于在会有从])[^将，。；,;]{{1,24}}?(?:{join_words('disposals_zh')})")


def find_english_futures(text: str) -> list[FutureForm]:
    """Return the English forms in order. Those that overlap count once, the surest first."""
    found = [*_list_forms(_SURE, text, FutureKind.SURE), *_list_forms(_UPCOMING, text, FutureKind.REDUCED)]
    found += _list_forms(_WEAK, text, FutureKind.WEAK)
    sure = [(form.start, form.end) for form in found]
    reduced = _list_forms(_REDUCED, text, FutureKind.REDUCED)
    found += [form for form in reduced if not any(start < form.end and form.start < end for start, end in sure)]
    return sorted(found)


def find_chinese_futures(text: str) -> list[FutureForm]:
    """Return the Chinese forms in order; none of 将 that only puts an object before its verb."""
    disposals = {found.start() for found in _DISPOSAL.finditer(text)}
    sure = [form for form in _list_forms(_CHINESE_SURE, text, FutureKind.SURE) if form.start not in disposals]
    return sorted([*sure, *_list_forms(_CHINESE_WEAK, text, FutureKind.WEAK)])


def _list_forms(pattern: re.Pattern[str], text: str, kind: FutureKind) -> Iterator[FutureForm]:
    return (FutureForm(*found.span(), kind) for found in pattern.finditer(text))
