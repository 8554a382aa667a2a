"""Which of many patterns may match a text, found in one linear pass, so that only those need be tried one by one.

RE2 matches all patterns at once, a hundred in the time Python takes for two. It knows no look-around and counts only ASCII
letters as letters; so each pattern is first widened to one that RE2 knows and that finds at least as much.

RE2 keeps the states it has met, and begins anew when they fill its memory: from there on a text costs ten times as much. States
are many and large where letters beyond ASCII are told apart, byte by byte. Most texts need that for none of the patterns: in them
one character stands for all such letters, and a smaller automaton reads them.
"""

import re
from collections.abc import Iterable, Sequence
from functools import cached_property

import re2

MEMORY_BYTES = 32 << 20
_BEYOND_ASCII = r"\x{80}-\x{10ffff}"
_STAND_IN = "\x01"
_ANY_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]")
_FIRST_IDEOGRAPH = "\u2e80"
_SETS = {"w": "0-9A-Za-z_", "d": "0-9", "s": r"\s"}
_NOTHING = r"\x{0}"
_TOKEN = re.compile(r"\\.|\[\^?\]?|\(\?(?:=|!|<=|<!)|.", re.DOTALL)


class Sieve:
    """Patterns (Python's, multi-line) as one automaton; as another one for texts without the ideographs of any pattern."""

    def __init__(self, patterns: Iterable[str]) -> None:
        self._patterns = tuple(patterns)
        named = sorted({char for pattern in self._patterns for char in pattern if char >= _FIRST_IDEOGRAPH})
        self._ideographs = re.compile(f"[{''.join(named)}]" if named else r"(?!)")

    def candidates(self, text: str) -> Sequence[int]:
        """Places, in order, of the patterns that may match; all others do not."""
        if not text.isascii():
            if self._ideographs.search(text):
                return sorted(self._whole.Match(text) or ())
            text = _ANY_BEYOND_ASCII.sub(_STAND_IN, text)
        return sorted(self._folded.Match(text) or ())

    @cached_property
    def _whole(self) -> re2.Set:
        return _automaton(widened(pattern) for pattern in self._patterns)

    @cached_property
    def _folded(self) -> re2.Set:
        return _automaton(widened(pattern, folded=True) for pattern in self._patterns)


def _automaton(patterns: Iterable[str]) -> re2.Set:
    options = re2.Options()
    options.max_mem = MEMORY_BYTES
    automaton = re2.Set.SearchSet(options)
    for pattern in patterns:
        automaton.Add(f"(?m){pattern}")
    automaton.Compile()
    return automaton


def widened(pattern: str, folded: bool = False) -> str:
    """The pattern without look-around, with wider classes of characters; in a negated class, with narrower ones.

    `folded` makes it one for texts without ideographs in which one character stands for each other one beyond ASCII.
    """
    beyond = _STAND_IN if folded else _BEYOND_ASCII
    kept: list[str] = []
    tokens = iter(_TOKEN.findall(pattern))
    in_class = negated = False
    for token in tokens:
        if not in_class and token.startswith("(?"):
            _pass_over(tokens)
        elif token[0] == "[" and not in_class:
            in_class, negated = True, "^" in token
            kept.append(token)
        elif negated and token in (r"\W", r"\S", r"\D"):
            kept.append(_NOTHING)
        elif token[0] == "\\" and token[1] in _SETS and not negated:
            kept.append(_SETS[token[1]] + beyond if in_class else f"[{_SETS[token[1]]}{beyond}]")
        elif folded and not token.isascii():
            kept.append(_NOTHING if negated or token >= _FIRST_IDEOGRAPH else _STAND_IN)
        else:
            in_class = in_class and token != "]"
            negated = negated and in_class
            kept.append(token)
    return "".join(kept)


def _pass_over(tokens: Iterable[str]) -> None:
    """Leave out the rest of a group, with the groups in it."""
    depth, in_class = 1, False
    for token in tokens:
        if in_class:
            in_class = token != "]"
        elif token[0] == "[":
            in_class = True
        elif token[0] == "(":
            depth += 1
        elif token == ")":
            depth -= 1
            if depth == 0:
                return
