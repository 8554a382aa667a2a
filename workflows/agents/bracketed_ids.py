"""Ids of passages in whatever brackets a model writes them, written as `[q1]`: `(see q1)`, `[citation:q1]`, `\\[q1\\]`,
`[q1, p. 3]`, `【q1】`, `\\cite{q1}`, `<sup>q1</sup>`, full-width letters.
"""

import re
from collections.abc import Collection
from functools import lru_cache

MOST_WORDS, MOST_KEPT_WORDS = 4, 12
"""So many words beside the ids, a label or a page, do not make a bracket more than a citation; so many may stand beside it."""
_SQUARE = re.compile(
    r"(?:\\?[\[［【〔]|<(?:sup|ref|cite)>|\\cite\w{0,6}\{)([^\[\]［］【】〔〕()（）{}<>\n]{1,80})(?:\\?[\]］】〕]|</(?:sup|ref|cite)>|\})"
)
_ROUND = re.compile(r"(?<!\))[(（]([^\[\]［］【】〔〕()（）\n]{1,80})[)）]")
_LABEL = re.compile(r"[\w\s.,:;，、；：&#@*†^/\\“”\"'’–—-]*")
_WORD = re.compile(r"\w+")


@lru_cache(maxsize=4)
def _id_pattern_of(letter: str) -> re.Pattern[str]:
    wide = chr(ord(letter) + 0xFEE0)
    return re.compile(rf"(?<![A-Za-z0-9])[{letter}{wide}](\d{{1,6}})(?![A-Za-z0-9])")


def write_ids_plainly(text: str, letter: str, known: Collection[str]) -> str:
    """Return the text with the ids of this letter in square brackets of their own.

    A bracket that is a citation keeps its ids only. Words in parentheses stay, and there only ids that are `known` count.
    """
    pattern = _id_pattern_of(letter)

    def write_square(match: re.Match[str]) -> str:
        ids, rest = [_write_id(letter, found) for found in pattern.finditer(match[1])], pattern.sub(" ", match[1])
        if not ids or re.search(rf"{letter.upper()}\d", rest):  # the third quarter, as Q3
            return match[0]
        if _is_label(rest, MOST_WORDS):
            return "".join(f"[{one}]" for one in ids)
        return write_round(f"({match[1]})") if _is_label(rest, MOST_KEPT_WORDS) else match[0]

    def write_round(bracket: str) -> str:
        rest = pattern.sub(" ", bracket[1:-1])
        if not _WORD.search(rest) or not _is_label(rest, MOST_KEPT_WORDS):
            return pattern.sub(lambda found: _write_id(letter, found), bracket)
        return pattern.sub(lambda found: f"[{one}]" if (one := _write_id(letter, found)) in known else found[0], bracket)

    return _ROUND.sub(lambda match: write_round(match[0]), _SQUARE.sub(write_square, text))


def _write_id(letter: str, found: re.Match[str]) -> str:
    return f"{letter}{int(found[1])}"


def _is_label(rest: str, most_words: int) -> bool:
    return len(_WORD.findall(rest)) <= most_words and _LABEL.fullmatch(rest) is not None
