"""Raised and lowered text in one line: 10 with a raised 6 is a power, 1951 with a raised 3 has the mark of a note."""

import re
from collections.abc import Iterable
from itertools import groupby, pairwise
from unicodedata import category

_NUMBER = re.compile(r"[+\-−–]?\d+(?:[.,/]\d+)?")
_MARK = re.compile(r"[\[(]?\s*(?:(?:\w{0,3}\d+|[a-zA-Z])(?:\s*[,;–-]\s*(?:\d+|[a-zA-Z]\b))*|[*†‡§¶#]+)\s*[\])]?")
_SURE_MARK = re.compile(r"\[.*\]|[*†‡§¶#]+|\w{1,3}\)|[a-zA-Z](?:\s*[,;]\s*[a-zA-Z])+")
_CHARGE = re.compile(r"\d*[+\-−]")
_LAST_NUMBER = re.compile(r"(?P<number>[\d.,]*\d)$")
_LAST_LETTERS = re.compile(r"[A-Za-zµμΑ-ω]+$")
_SUM_IN_BRACKETS = re.compile(r"\([^()]*[+\-−×·*/=][^()]*\)$")
_OPERATOR_BEFORE = re.compile(r"[×·*=+−/^√]\s*$")
_OPERATOR_AFTER = re.compile(r"\s*[×·*=+−/^)≈<>]")
_BASES = ("10", "2")
"""Numbers whose powers stand in plain sentences. Others have powers only beside an operator."""
_ORDINALS = "eoa"


def join_levels(pieces: Iterable[tuple[str, str]]) -> str:
    """Join pieces of text, each with its level ("superscript", "subscript" or another), in one line."""
    groups = [(level, "".join(text for _, text in group)) for level, group in groupby(pieces, key=lambda piece: piece[0])]
    written = ""
    for (level, text), (_, after) in pairwise([*groups, ("", "")]):
        if level == "superscript":
            text = write_raised(written, text, after)
        written += write_lowered(written, text) if level == "subscript" else text
    return written


def is_mark(text: str) -> bool:
    """Say whether a text can be the mark of a note: a number, a letter or a sign, perhaps in brackets."""
    return len(text) <= 12 and _MARK.fullmatch(text.strip()) is not None


def write_raised(before: str, raised: str, after: str) -> str:
    """Return a raised text as it is written after `before` and before `after`: with "^", in brackets or not at all.

    A power has "^". What is the mark of a note without doubt is gone; what is likely one stands in brackets.
    """
    text = raised.strip()
    if not text or not before.strip():
        return raised
    after_stop = category(before[-1])[0] == "P" and not _SUM_IN_BRACKETS.search(before)
    if _SURE_MARK.fullmatch(text) or (is_mark(text) and after_stop):
        return ""
    if before[-1].isdigit() or before[-1] == ")":
        return _write_after_number(before, text, after)
    letters = _LAST_LETTERS.search(before)
    if _CHARGE.fullmatch(text) or text[0] in "-−–" or (letters and len(letters.group()) <= 2 and _NUMBER.fullmatch(text)):
        return f"^{text}"
    if text[-1].isdigit() and is_mark(text) and before[-1].isalpha():
        return f"[{text}]"
    return raised


def write_lowered(before: str, lowered: str) -> str:
    """Return a lowered text as it is written after `before`: 10 with a lowered 2 is 10_2, and H2O stays so."""
    return f"_{lowered}" if before[-1:].isdigit() and lowered.strip()[:1].isalnum() else lowered


def _write_after_number(before: str, text: str, after: str) -> str:
    if _NUMBER.fullmatch(text) and _is_power(before, text, after):
        return f"^{text}"
    if len(text) == 1 and text.isalpha() and text not in _ORDINALS:
        return f"^{text}"
    return f"[{text}]" if text[-1].isdigit() and is_mark(text) else text


def _is_power(before: str, text: str, after: str) -> bool:
    found = _LAST_NUMBER.search(before)
    if found is None or text[0] in "+-−–":
        return True
    beside = _OPERATOR_BEFORE.search(before[: found.start()]) or _OPERATOR_AFTER.match(after)
    return found.group("number") in _BASES or beside is not None
