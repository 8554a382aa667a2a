"""Code within a text, hidden from patterns that are meant for prose: `argv[1]` cites nothing, and a blank in it counts."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from workflows.checks.markdown import find_fenced_code

OPEN, CLOSE = "\ue010", "\ue011"
_HIDDEN = re.compile(f"{OPEN}(\\d+){CLOSE}")
_INLINE = re.compile(r"(?<!`)`[^`\n]{1,400}`(?!`)")
_SUSPECT = re.compile(r"://|www\.|\[\[|<cite|[\[【]\s*\^?q\d|`\s*[\[【][\s\d,;^–-]+[\]】]\s*`", re.IGNORECASE)
"""What is no code, whatever stands around it: an address, a marker, a citation."""


class HiddenCode(NamedTuple):
    """A text with a private sign in the place of each piece of code, and the pieces."""

    text: str
    pieces: Sequence[str]

    def put_back(self, text: str) -> str:
        """Return a text made of this one with its code."""
        return _HIDDEN.sub(lambda match: self.pieces[int(match[1])], text)


def hide_code(text: str) -> HiddenCode:
    """Hide the code between fences and backticks, but for what cites or links."""
    text = text.replace(OPEN, "").replace(CLOSE, "")
    pieces: list[str] = []

    def hide(code: str) -> str:
        if _SUSPECT.search(code):
            return code
        pieces.append(code)
        return f"{OPEN}{len(pieces) - 1}{CLOSE}"

    at, shown = 0, list[str]()
    for start, end in find_fenced_code(text).blocks:
        shown += [_INLINE.sub(lambda match: hide(match[0]), text[at:start]), hide(text[start:end])]
        at = end
    shown.append(_INLINE.sub(lambda match: hide(match[0]), text[at:]))
    return HiddenCode("".join(shown), pieces)
