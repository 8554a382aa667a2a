"""Characters that nobody sees, and their removal."""

import re

INVISIBLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0"
    "\ufff9-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e01ef"
)
"""Characters that nobody sees, as they stand in the brackets of a pattern."""
_INVISIBLE = re.compile(f"[{INVISIBLE}]")


def remove_invisible(text: str) -> str:
    """Remove invisible characters from the text."""
    return text if text.isascii() else _INVISIBLE.sub("", text)
