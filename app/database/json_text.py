"""JSON text as PostgreSQL can read it."""

import re

# Pairs of backslashes stand for backslashes; the one after them begins the escape.
NUL = re.compile(r"(?<!\\)((?:\\\\)*)\\u0000")


def replace_nul(text: str) -> str:
    """Return JSON text with the replacement character for each NUL: a `json` column keeps NULs, but cannot be read inside then.

    Lengths and offsets stay, and a text of nothing but a NUL does not become empty.
    """
    return NUL.sub(r"\1\\ufffd", text) if r"\u0000" in text else text
