"""Telling the heading of a list of sources from other lines: "**Sources:**", "## Sources consulted", 八、参考文献."""

import re

from retrieval.language.traditional import simplify
from retrieval.language.word_lists import read_lists

LONGEST_HEADING = 60
_LISTS = read_lists("source_lists.toml", "workflows.checks")
_NUMBER = re.compile(
    r"^(?:\d{1,2}(?:\.\d{1,2})*[.)、．]?|[IVXivx]{1,5}[.)、]|[A-Za-z][.)]|[（(]?[一二三四五六七八九十]{1,3}[)）、．.])\s*(?=\S)"
)
_BRACKETS = re.compile(r"[（(][^)）]*[)）]")
_ENGLISH_NAMES = frozenset(_LISTS["names"])
_ENGLISH_WORDS = _ENGLISH_NAMES | frozenset(_LISTS["others"])
_CHINESE_NAME = re.compile("|".join(_LISTS["names_zh"]))
_CHINESE_WORDS = re.compile(rf"(?:{'|'.join([*_LISTS['names_zh'], *_LISTS['others_zh']])})+")
_WORD = re.compile(r"[^\W_]+")


def names_a_source_list(line: str) -> bool:
    """Say whether a line, with its markup and number or without, is the heading of a list of sources."""
    if len(line) > LONGEST_HEADING or line.rstrip().endswith((".", "。")):
        return False
    plain = _BRACKETS.sub(" ", _NUMBER.sub("", line.strip(" \t\r#*_>:：")))
    words = _WORD.findall(simplify(plain).lower())
    return bool(words) and any(map(_names_sources, words)) and all(map(_may_stand_there, words))


def _names_sources(word: str) -> bool:
    return word in _ENGLISH_NAMES or (not word.isascii() and _CHINESE_NAME.search(word) is not None)


def _may_stand_there(word: str) -> bool:
    return word in _ENGLISH_WORDS or _CHINESE_WORDS.fullmatch(word) is not None
