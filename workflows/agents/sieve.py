"""Which of many patterns may match a text, found in one linear pass, so that only those need be tried one by one.

RE2 matches all patterns at once, a hundred in the time Python takes for two. It knows no look-around and counts only ASCII
letters as letters; so each pattern is first widened to one that RE2 knows and that finds at least as much.
"""

import re
from collections.abc import Iterable, Sequence

import re2

MEMORY_BYTES = 32 << 20
_BEYOND_ASCII = r"\x{80}-\x{10ffff}"
_WIDER = {"w": "0-9A-Za-z_" + _BEYOND_ASCII, "d": "0-9" + _BEYOND_ASCII, "s": r"\s" + _BEYOND_ASCII}
_NOTHING = r"\x{0}"
_TOKEN = re.compile(r"\\.|\[\^?\]?|\(\?(?:=|!|<=|<!)|.", re.DOTALL)


class Sieve:
    """Patterns (Python's, multi-line) as one automaton."""

    def __init__(self, patterns: Iterable[str]) -> None:
        options = re2.Options()
        options.max_mem = MEMORY_BYTES
        self._set = re2.Set.SearchSet(options)
        for pattern in patterns:
            self._set.Add(f"(?m){widened(pattern)}")
        self._set.Compile()

    def candidates(self, text: str) -> Sequence[int]:
        """Places, in order, of the patterns that may match; all others do not."""
        return sorted(self._set.Match(text) or ())


def widened(pattern: str) -> str:
    """The pattern without look-around, with wider classes of characters; in a negated class, with narrower ones."""
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
        elif token[0] == "\\" and token[1] in _WIDER and not negated:
            kept.append(_WIDER[token[1]] if in_class else f"[{_WIDER[token[1]]}]")
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
