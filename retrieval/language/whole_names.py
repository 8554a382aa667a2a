"""Finds a name in a text as a whole: not inside a longer word. Ideographs have no borders, and are found anywhere.

Name and text come folded alike. A letter next to an ideograph begins or ends a word, as NASA does in 由NASA发射.
"""

from app.domain.script import count_ideographs


def find_name(name: str, text: str) -> int:
    """Return where a text first has a name as a whole; -1 where it does not, or the name is empty."""
    at = text.find(name) if name else -1
    while at >= 0 and not stands_alone(name, text, at):
        at = text.find(name, at + 1)
    return at


def stands_alone(name: str, text: str, at: int) -> bool:
    """Say whether a name that stands at a place of a text is no part of a longer word there."""
    end = at + len(name)
    return not (_is_in_word(name[0]) and at and _is_in_word(text[at - 1])) and not (
        _is_in_word(name[-1]) and end < len(text) and _is_in_word(text[end])
    )


def _is_in_word(char: str) -> bool:
    return char.isalnum() and not count_ideographs(char)
