"""Ids of passages in whatever brackets a model writes them, written as `[q1]`: `(see q1)`, `[citation:q1]`, `\\[q1\\]`,
`[q1, p. 3]`, `【q1】`, full-width letters.
"""

import re
from collections.abc import Collection
from functools import lru_cache

MOST_WORDS = 4
"""So many words beside the ids, a label or a page, do not make a bracket more than a citation."""
_SQUARE = re.compile(r"(?:\\?[\[［【〔]|<sup>)([^\[\]［］【】〔〕()（）\n]{1,80})(?:\\?[\]］】〕]|</sup>)")
_ROUND = re.compile(r"(?<!\))[(（]([^\[\]［］【】〔〕()（）\n]{1,80})[)）]")
_LABEL = re.compile(r"[\w\s.,:;，、；：&#*†^/\\–-]*")
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
        return "".join(f"[{one}]" for one in ids) if ids and _is_label(rest) and letter.upper() not in rest else match[0]

    def write_round(match: re.Match[str]) -> str:
        rest = pattern.sub(" ", match[1])
        if not _is_label(rest) or not _WORD.search(rest):
            return pattern.sub(lambda found: _write_id(letter, found), match[0])
        return pattern.sub(lambda found: f"[{one}]" if (one := _write_id(letter, found)) in known else found[0], match[0])

    return _ROUND.sub(write_round, _SQUARE.sub(write_square, text))


def _write_id(letter: str, found: re.Match[str]) -> str:
    return f"{letter}{int(found[1])}"


def _is_label(rest: str) -> bool:
    return len(_WORD.findall(rest)) <= MOST_WORDS and _LABEL.fullmatch(rest) is not None
