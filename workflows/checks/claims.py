"""The claim sentences of a report's Markdown, each with the quotes it cites and its exact place in the section's body.

A marker counts for the sentence it stands in or directly after. Sentences of the same paragraph before it, since the last marker,
are taken to lean on it too: writers often cite once for two or three sentences.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from app.domain.citations import MARKER
from retrieval.language.paragraphs import Span
from retrieval.language.sentences import split_sentences
from retrieval.language.tokens import count_stems

_MARKERS = re.compile(rf"(?:{MARKER.pattern}\s*)+")
_LINE = re.compile(r"[^\n]+")
_HEADING = re.compile(r"[ \t]{0,3}#{1,6}\s|[ \t]{0,3}\*\*[^*\n]+\*\*[ \t]*:?[ \t]*$")
_TABLE_RULE = re.compile(r"[ \t]*\|?[ \t:|-]+\|?[ \t]*$")
_CELL = re.compile(r"[^|\n]+")
_OPENING = re.compile(r"[ \t]*(?:(?:[-*+]|\d{1,3}[.)])[ \t]+|>[ \t]?)*")
_MARKUP = re.compile(r"\*\*|__|(?<!\w)[*_](?=\S)|(?<=\S)[*_](?!\w)|`|\\(?=[^\w\s])")
_MARKUP_SIGN = re.compile(r"[*_`\\]")
_STRAY_BLANK = re.compile(r" (?=[.,;:!?。，；：！？])")
LEAST_TERMS = 2
"""Words with a meaning of their own below which a sentence ("In short.") states nothing that could be checked."""


class ClaimSentence(NamedTuple):
    """`text` is plain, without markers and markup; `[start, end)` is its place in the body, its markers included.

    `keys` are the quotes it cites itself, `leans_on` those of the marker that follows it in its paragraph.
    """

    text: str
    start: int
    end: int
    keys: tuple[str, ...]
    leans_on: tuple[str, ...]


class _Run(NamedTuple):
    """Markers that follow each other: with the white space around them, `[start, end)`; where they begin, and where they end."""

    start: int
    first: int
    last: int
    end: int
    keys: tuple[str, ...]


def claims_of(body: str) -> list[ClaimSentence]:
    """The claims of one body, in order. Headings, table heads and scraps are none."""
    found: list[ClaimSentence] = []
    for block in _blocks(body):
        leaning = _leaning(_sentences(body, block))
        found.extend(sentence for sentence in leaning if count_stems(sentence.text, LEAST_TERMS) == LEAST_TERMS)
    return found


def _blocks(body: str) -> Iterator[Span]:
    """Paragraphs, list items and table cells, without what opens them."""
    start = end = -1
    lines = list(_LINE.finditer(body))
    for place, line in enumerate(lines):
        fresh = place == 0 or body[lines[place - 1].end() : line.start()].count("\n") > 1
        opening = _OPENING.match(body, line.start(), line.end())
        begins = opening.end() if opening else line.start()
        table = "|" in line.group() and line.group().lstrip().startswith("|")
        if start >= 0 and (fresh or begins > line.start() or table or _HEADING.match(line.group())):
            yield Span(start, end)
            start = -1
        if _HEADING.match(line.group()) or (table and _TABLE_RULE.match(line.group())):
            continue
        if table:
            if not _is_head(lines, place):
                yield from (Span(*cell.span()) for cell in _CELL.finditer(body, line.start(), line.end()))
            continue
        start, end = (begins if start < 0 else start), line.end()
    if start >= 0:
        yield Span(start, end)


def _is_head(lines: list[re.Match[str]], place: int) -> bool:
    return place + 1 < len(lines) and _TABLE_RULE.match(lines[place + 1].group()) is not None


def _sentences(body: str, block: Span) -> list[ClaimSentence]:
    """The sentences of a block; markers are blanked first, so that they never hide where a sentence ends."""
    text, at = body[block.start : block.end], block.start
    if "[[" not in text:
        return [ClaimSentence(_plain(text[start:end]), at + start, at + end, (), ()) for start, end in split_sentences(text)]
    runs = _runs(text)
    spans = split_sentences(_blanked(text, runs))
    limits = [*(span.start for span in spans[1:]), len(text)]
    found: list[ClaimSentence] = []
    for (start, end), limit in zip(spans, limits, strict=False):
        own = [run for run in runs if start <= run.first < limit]
        keys = tuple(dict.fromkeys([key for run in own for key in run.keys])) if own else ()
        last = max(end, own[-1].last) if own else end
        found.append(ClaimSentence(_plain(text[start:end]), at + start, at + last, keys, ()))
    return found


def _runs(text: str) -> list[_Run]:
    found = _MARKERS.finditer(text)
    return [_run(text, *match.span(), match.group()) for match in found]


def _run(text: str, first: int, end: int, markers: str) -> _Run:
    """The blanks before are looked for from the markers on: a pattern that begins with them is tried at every character."""
    keys = tuple(key.strip() for key in MARKER.findall(markers))
    return _Run(len(text[:first].rstrip()), first, first + len(markers.rstrip()), end, keys)


def _blanked(text: str, runs: Sequence[_Run]) -> str:
    """The text with blanks for markers, of the same length."""
    blanked = text
    for run in runs:
        blanked = blanked[: run.start] + " " * (run.end - run.start) + blanked[run.end :]
    return blanked


def _plain(text: str) -> str:
    text = MARKER.sub("", text) if "[[" in text else text
    text = _MARKUP.sub("", text) if _MARKUP_SIGN.search(text) else text
    return _STRAY_BLANK.sub("", " ".join(text.split()))


def _leaning(sentences: Sequence[ClaimSentence]) -> Iterator[ClaimSentence]:
    """The sentences, those without a marker leaning on the next one that there is."""
    if not any(sentence.keys for sentence in sentences):
        return iter(sentences)
    following: tuple[str, ...] = ()
    leaning: list[ClaimSentence] = []
    for sentence in reversed(sentences):
        following = sentence.keys or following
        leaning.append(sentence if sentence.keys or not following else ClaimSentence(*sentence[:-1], following))
    return reversed(leaning)
