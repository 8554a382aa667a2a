"""The statement that a citation stands behind, and the exact words that the citation then names."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from app.domain.citations import REMOVED, marker_of
from app.domain.evidence import Quote
from retrieval.language.sentences import split_sentences
from workflows.agents.evidence_book import NO_QUOTE, EvidenceBook

_CITATIONS = re.compile(r"\[q[1-9]\d{0,5}\](?:[ \t]*\[q[1-9]\d{0,5}\])*")
_ID = re.compile(r"q\d+")
_DIGIT = re.compile(r"\d")
MOST_BEFORE = 1_500
FEWEST_LETTERS = 24
"""A clause with fewer letters says too little to choose by: what stands before it in its sentence is added."""


class CitedText(NamedTuple):
    """A body in which each citation is the marker of a quote, and these quotes, in order."""

    body: str
    quotes: tuple[Quote, ...]


def put_markers(text: str, book: EvidenceBook) -> CitedText:
    """Turn the ids of cleaned text into markers of the words that stand for what they are cited for."""
    quotes: dict[str, Quote] = {}
    written: list[str] = []
    at = 0
    for found in _CITATIONS.finditer(text):
        statement = find_statement(text, found.start(), at)
        cited = [quote for short in dict.fromkeys(_ID.findall(found.group())) for quote in book.quote(short, statement)]
        quotes |= {quote.key: quote for quote in cited}
        written += [text[at : found.start()], *dict.fromkeys(map(marker_of, cited))]
        at = found.end()
    body = "".join([*written, text[at:]]).replace(f"[{NO_QUOTE}]", REMOVED)
    return CitedText(body, tuple(quotes.values()))


def find_statement(text: str, end: int, after: int = 0) -> str:
    """Return what a citation at `end` is behind: the sentence up to there, of it what follows the citation at `after`.

    In a table that is what stands in the row since that citation, with the row's first cell; the whole row where it is little.
    """
    begin = max(text.rfind("\n", 0, end) + 1, end - MOST_BEFORE)
    line = text[begin:end]
    if line.lstrip().startswith("|"):
        label, own = line.strip("| ").partition("|")[0], text[max(after, begin) : end]
        return _CITATIONS.sub(
            "", f"{label} {own}" if _DIGIT.search(own) or _says_enough(own) else line + text[end:].partition("\n")[0]
        )
    clause = text[max(after, end - MOST_BEFORE) : end]
    own = next(_list_sentences_back(clause), "")
    if _says_enough(own):
        return own
    whole = _CITATIONS.sub("", text[max(0, end - MOST_BEFORE) : end])
    return next(_list_sentences_back(whole), own)


def _says_enough(text: str) -> bool:
    return sum(map(str.isalnum, text)) >= FEWEST_LETTERS


def _list_sentences_back(text: str) -> Iterator[str]:
    """List the sentences of a text that say something, the last first."""
    spans = split_sentences(text)
    return (said for span in reversed(spans) if any(map(str.isalnum, said := text[span.start : span.end])))
