"""Finding answers of a model that no reader may get: cut off, looping, or repeating the prompt instead of answering it.

A loop is a stretch in which most runs of words have been said before, one sentence said again and again, or one short piece of
text repeated without end. A model that loops often counts as it goes, so long stretches are also read with all figures alike. An
echo is a delimiter or a label of our own prompts, a long run of their words, or a field that still holds its own description.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice, repeat
from operator import contains
from typing import NamedTuple

from app.domain.script import IDEOGRAPHS

CUT_OFF, LOOPED = "length", "loop"
"""Reasons why an answer ended: the server's limit, and our own watch over a stream."""
RUN_WORDS = 16
HALF_RUN = RUN_WORDS // 2
WINDOWS = (120, 400, 1_600)
COUNTED_WINDOWS = (600, 1_600)
"""The windows that are read with all figures alike. Shorter ones would take a list of some dozen alike items for a loop."""
FIGURE = "ⁿ"
"""The sign that all figures are read as; no text has words with it."""
MOST_FIGURES = 0.2
"""The share of figures from which on a window is a table, a timetable or a list of years: there, the figures are what is said."""
SENTENCE_WORDS, MOST_SAID = 5, 8
"""A sentence of so many words may stand so often close together."""
OPENING_WORDS = 3
WATCHED_CHARS = 10_000
LEAST_NEW = 0.4
"""The least share of runs in a window that are not repetitions; prose has above .95, a list of alike items above .5."""
LABEL_WORDS, LABEL_IDEOGRAPHS = 3, 5
_WORD = re.compile(rf"[{IDEOGRAPHS}]|[^\W_{IDEOGRAPHS}]+")
_FIGURES = re.compile(r"[\d〇零一二三四五六七八九十百千万]+")
_FIELD_EDGE = re.compile(r'\||(?<=[\[{:,])\s*"|"(?=\s*[\]}:,])')
# One class of characters comes first, for which `re` looks by itself: patterns side by side take three times as long.
_SENTENCE_END = re.compile(r"[。！？；\n\\.!?;](?:(?<=[。！？；\n])|(?<=\\)n|(?<=[.!?;])(?=\s|$))")
_ENDLESS = re.compile(r"(.)\1{599,}|(.{2,12}?)\2{149,}", re.DOTALL)
LONGEST_PIECE, SHORTEST_ENDLESS = 12, 300
"""Characters of the longest piece of `_ENDLESS`, and of the shortest text that it finds."""
_TAG = re.compile(r"</?([a-z_]{2,30})\b[^<>\n]{0,200}>")
_LABEL = re.compile(r"^([^\W\d_][^\n:：{}<>#*|]{3,60})[:：][ \t]*$", re.MULTILINE)
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
_DESCRIBED = re.compile(r'"(<[^"\n]{8,}>)"')
_WANTED_TAGS = frozenset({"think", "answer", "tool_call", "plan", "cite"})
_SHOWN_TAGS = frozenset({"quote", "snippet", "title"})


class AnswerFault(StrEnum):
    """The kinds of fault."""

    CUT = "cut"
    LOOP = "loop"
    ECHO = "echo"


class FoundAnswerFault(NamedTuple):
    """A fault, and the words that show it (empty for a cut and a loop)."""

    fault: AnswerFault
    shown: str = ""


def find_loop(text: str) -> bool:
    """Say whether a text repeats itself. It takes time linear in the length of the text."""
    if _repeats_a_piece(text) or _repeats_a_sentence(text):
        return True
    return any(
        _repeats_itself(words[start : start + size])
        for words, size in _read_words(text)
        for start in _list_starts(len(words), size)
    )


def find_loop_at_end(text: str) -> bool:
    """Say whether the end of a text under way repeats itself: its last words, in windows of each size."""
    watched = text[-WATCHED_CHARS:]
    if _repeats_a_piece(text[-2_400:]) or _repeats_a_sentence(watched):
        return True
    return any(_repeats_itself(words[-size:]) for words, size in _read_words(watched))


def _read_words(text: str) -> Iterable[tuple[list[str], int]]:
    """Yield the words with each size of windows to look at, first as they are, then with all figures alike."""
    plain = text.casefold()
    words = _WORD.findall(plain)
    yield from ((words, size) for size in WINDOWS if size <= len(words))
    # With figures alike there are at most as many words.
    if len(words) >= min(COUNTED_WINDOWS):
        words = _WORD.findall(_FIGURES.sub(FIGURE, plain))
        yield from ((words, size) for size in COUNTED_WINDOWS if size <= len(words))


def _list_starts(length: int, size: int) -> Iterable[int]:
    """Return where windows of this size begin: they overlap by half, and the last ends with the text."""
    return (*range(0, length - size, size // 2), length - size)


def _repeats_a_piece(text: str) -> bool:
    """Say whether a short piece of text is repeated without end. The pattern is slow, so some places are tried first: it
    cannot miss all of them.
    """
    step = SHORTEST_ENDLESS - 2 * LONGEST_PIECE
    return any(
        text.find(text[place : place + LONGEST_PIECE], place + 1, place + 2 * LONGEST_PIECE) > 0
        for place in range(0, len(text) - 2 * LONGEST_PIECE, step)
    ) and bool(_ENDLESS.search(text))


def _repeats_itself(words: list[str]) -> bool:
    # So many different words leave no room for so many repeated runs; and words are counted faster than runs.
    if len(set(words)) > LEAST_NEW * (len(words) - RUN_WORDS + 1):
        return False
    if sum(map(contains, words, repeat(FIGURE))) > MOST_FIGURES * len(words):
        return False
    runs = _list_runs(words)
    return len(set(runs)) < LEAST_NEW * len(runs)


def _repeats_a_sentence(text: str) -> bool:
    """Say whether a sentence stands too often in a stretch that is mostly this sentence. Fields and cells are read one by one."""
    return any(map(_is_mostly_one_sentence, _FIELD_EDGE.split(text.casefold())))


def _is_mostly_one_sentence(text: str) -> bool:
    sentences = _SENTENCE_END.split(text)
    if len(sentences) <= MOST_SAID or max(Counter(map(_open_sentence, sentences)).values()) <= MOST_SAID:
        return False
    said, ends = 0, defaultdict[tuple[str, ...], list[int]](list)
    for words in map(_WORD.findall, sentences):
        said += len(words)
        before = ends[tuple(words)]
        before.append(said)
        stretch = said - before[-MOST_SAID - 1] if len(before) > MOST_SAID else 0
        if len(words) >= SENTENCE_WORDS and 0 < stretch < 2 * MOST_SAID * len(words):
            return True
    return False


def _open_sentence(sentence: str) -> tuple[str, ...]:
    """Return the first words of a sentence: reading only these shows of most texts that none of their sentences comes often."""
    return tuple(found.group() for found in islice(_WORD.finditer(sentence), OPENING_WORDS))


def _list_runs(words: list[str], size: int = RUN_WORDS) -> list[tuple[str, ...]]:
    return list(zip(*[words[start:] for start in range(size)], strict=False))


@dataclass(frozen=True, slots=True)
class PromptWords:
    """What is ours in the prompts: the names of delimiters, the labels of values, and all halves of runs of words."""

    tags: frozenset[str]
    labels: re.Pattern[str] | None
    halves: frozenset[tuple[str, ...]]

    @classmethod
    def of(cls, literals: Iterable[str]) -> "PromptWords":
        """Read the prompts' own text, without the values that fill it."""
        pieces = tuple(literals)
        tags = {tag for piece in pieces for tag in _TAG.findall(piece)} - _WANTED_TAGS | _SHOWN_TAGS
        labels = {label.strip() for piece in pieces for label in _LABEL.findall(piece) if _is_telling(label)}
        halves = {half for piece in pieces for half in _list_runs(_WORD.findall(piece.casefold()), HALF_RUN)}
        return cls(frozenset(tags), _compile_labels(labels), frozenset(halves))

    def find_echo(self, text: str, form: str = "") -> str:
        """Return the first words of a text that are the prompt's and not an answer; empty when there are none.

        `form` is the form of the answer as the prompt showed it. Code is not looked at.
        """
        for described in map(str, _DESCRIBED.findall(form)):
            if described in text:
                return described
        plain = _CODE.sub(" ", text)
        tag = next((found for found in _TAG.finditer(plain) if found[1] in self.tags), None)
        label = self.labels.search(plain) if self.labels else None
        return tag.group() if tag else str(label[1]) if label else self._find_run(_WORD.findall(plain.casefold()))

    def _find_run(self, said: Sequence[str]) -> str:
        """Return the first run of words that is ours. It holds a half that begins at a multiple of a half's length."""
        for whole in range(0, len(said) - HALF_RUN + 1, HALF_RUN):
            if tuple(said[whole : whole + HALF_RUN]) in self.halves:
                for start in range(max(0, whole - HALF_RUN), whole + 1):
                    run = tuple(said[start : start + RUN_WORDS])
                    if run[:HALF_RUN] in self.halves and run[HALF_RUN:] in self.halves:
                        return " ".join(run)
        return ""


def _is_telling(label: str) -> bool:
    words = _WORD.findall(label)
    return len(words) >= (LABEL_WORDS if label.isascii() else LABEL_IDEOGRAPHS)


def _compile_labels(labels: Iterable[str]) -> re.Pattern[str] | None:
    """Return a pattern of a label that fills a line or a string of JSON."""
    said = "|".join(re.escape(label) for label in sorted(labels, key=len, reverse=True))
    edge = r'^|"|\n|\\n'
    return re.compile(rf'(?:{edge})[#*_> \t-]*({said})[*_ \t]*[:：]?[*_ \t]*(?=$|"|\n|\\n)', re.IGNORECASE) if said else None


def find_answer_fault(text: str, ended: str, ours: PromptWords, form: str = "") -> FoundAnswerFault | None:
    """Return the fault of an answer; `text` is without private thinking, `ended` is the reason why it ended."""
    if ended == LOOPED or find_loop(text):
        return FoundAnswerFault(AnswerFault.LOOP)
    if ended == CUT_OFF:
        return FoundAnswerFault(AnswerFault.CUT)
    shown = ours.find_echo(text, form)
    return FoundAnswerFault(AnswerFault.ECHO, shown) if shown else None


def count_words(text: str) -> int:
    """Count words, each ideograph as one."""
    return sum(1 for _ in _WORD.finditer(text))
