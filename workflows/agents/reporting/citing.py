"""Cleaning the citations that a model writes: ids it was shown stay as `[q3]`; all else that looks like a citation is removed.

Removed are ids that were not shown, bare numbers in brackets, links and addresses that the model made up, and footnotes.
"""

import re
from collections.abc import Collection
from typing import NamedTuple

from app.domain.citations import MARKER, marker
from workflows.agents.reporting.book import QuoteBook

MAX_CHARS = 60_000
MAX_PASSES = 4
FIRST_YEAR = 1000
_SPLIT = re.compile(r"\s*(?:[,;，；、–-]|\band\b)\s*")
_ID_LIST = r"\^?q?\d{1,6}(?:\s*(?:[,;，；、–-]|\band\b)\s*\^?q?\d{1,6})*"
_ONLY_IDS = re.compile(rf"\s*{_ID_LIST}\s*", re.IGNORECASE)
_BRACKETED = re.compile(rf"(?:\[|【)\s*({_ID_LIST})\s*(?:†[^\]】\n]{{0,40}})?(?:\]|】)", re.IGNORECASE)
_PARENTHESISED = re.compile(r"[(（]\s*(q\d{1,6}(?:\s*[,;，；、]\s*q\d{1,6})*)\s*[)）]")
_CITE_TAG = re.compile(r'<cite\s+id\s*=\s*"?([^">]{0,200})"?\s*>(.*?)</cite>', re.DOTALL | re.IGNORECASE)
_CANONICAL = re.compile(r"\[(q\d{1,6})\]")
_IMAGE = re.compile(r"!\[([^\]\n]{0,400})\]\([^)\n]{0,2000}\)")
_LINK = re.compile(r"\[([^\[\]\n]{1,400})\]\((?:[^()\n]|\([^()\n]*\)){0,2000}\)")
_REFERENCE_LINE = re.compile(r"^\s*\[[^\]\n]{1,80}\]:.*$", re.MULTILINE)
_NOT_IN_ADDRESS = r"\s<>\"'）)\]，。；"
_ADDRESS = re.compile(
    rf"<?\b(?:(?:https?|ftp|file|data|javascript)://|www\.)[^{_NOT_IN_ADDRESS}]*[^{_NOT_IN_ADDRESS}.,;:!?]>?", re.IGNORECASE
)
_STRAY_BLANK = re.compile(r"(?<![ \t])[ \t]+(?=[.,;:!?)。，；：！？）])")
_NOTHING_WITHIN = re.compile(r"[(（]\s*[)）]")
_WIDE_GAP = re.compile(r"(?<=\S)[ \t]{2,}(?=\S)")
_LEFTOVER = re.compile(r"\[(?=\[)|(?<=\])\]|\[\^?(?=\d{1,6}\])")


class Cited(NamedTuple):
    """Text in which every `[q..]` is an id the writer was shown, and the number of citations removed from it."""

    text: str
    removed: int


def cleaned(text: str, allowed: Collection[str]) -> Cited:
    """Return the text with only citations from `allowed`, each written as `[q3]`."""
    cleaning, text = _Cleaning(allowed), text[:MAX_CHARS]
    for _ in range(MAX_PASSES):
        before, text = text, cleaning.once(text)
        if text == before:
            break
    tidy = _tidy(_LEFTOVER.sub("", text))
    return Cited(_WIDE_GAP.sub(" ", tidy).strip(), cleaning.removed)


def _tidy(text: str) -> str:
    """Remove the blanks and the empty parentheses that a citation leaves behind."""
    return _NOTHING_WITHIN.sub("", _STRAY_BLANK.sub("", text))


def without_citations(text: str) -> str:
    """Remove everything that looks like a citation. Used for words of a source that are shown outside their quote."""
    return cleaned(text, ()).text


def cited_ids(text: str) -> tuple[str, ...]:
    """Return the ids that cleaned text cites, each once, in order."""
    return tuple(dict.fromkeys(_CANONICAL.findall(text)))


def cites(text: str) -> bool:
    """Say whether cleaned text cites anything."""
    return _CANONICAL.search(text) is not None


def with_markers(text: str, book: QuoteBook) -> str:
    """Turn the ids of cleaned text into the markers of a report body."""
    return _CANONICAL.sub(lambda m: marker(book[m.group(1)]), text)


class _Cleaning:
    """The cleaning of one text, with a count of what it removes."""

    def __init__(self, allowed: Collection[str]) -> None:
        self._allowed = allowed
        self.removed = 0

    def once(self, text: str) -> str:
        text = MARKER.sub(self._double, text)
        text = _IMAGE.sub(self._label, _CITE_TAG.sub(self._tagged, text))
        text = _REFERENCE_LINE.sub(self._gone, _LINK.sub(self._link, text))
        text = _ADDRESS.sub(self._gone, text)
        text = _PARENTHESISED.sub(self._listed, _BRACKETED.sub(self._listed, text))
        return _tidy(text)

    def _ids(self, said: str) -> str:
        wanted = [w.lower().lstrip("^") for w in _SPLIT.split(said.strip()) if w]
        if len(wanted) == 1 and wanted[0].isdigit() and int(wanted[0]) >= FIRST_YEAR:
            return f"({wanted[0]})"
        known = dict.fromkeys(w for w in wanted if w in self._allowed)
        self.removed += sum(w not in self._allowed for w in wanted)
        return "".join(f"[{w}]" for w in known)

    def _listed(self, match: re.Match[str]) -> str:
        return self._ids(match.group(1))

    def _tagged(self, match: re.Match[str]) -> str:
        return match.group(2) + self._ids(match.group(1))

    def _double(self, match: re.Match[str]) -> str:
        return f"[{match.group(1)}]" if _ONLY_IDS.fullmatch(match.group(1)) else self._gone(match)

    def _link(self, match: re.Match[str]) -> str:
        return self._ids(match.group(1)) if _ONLY_IDS.fullmatch(match.group(1)) else self._label(match)

    def _label(self, match: re.Match[str]) -> str:
        self.removed += 1
        return match.group(1)

    def _gone(self, match: re.Match[str]) -> str:
        self.removed += 1
        return ""
