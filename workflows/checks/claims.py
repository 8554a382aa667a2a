"""The claim sentences of a report's Markdown, each with the quotes it cites and its exact place in the section's body.

A marker belongs to the sentence it stands in or directly after. Earlier sentences of the same paragraph, since the last marker,
lean on it too: writers often cite once for two or three sentences. A table cell that is a bare figure is a claim under its head.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from app.domain.citations import MARKER
from app.domain.code import find_fenced_code
from retrieval.language.sentences import split_sentences
from retrieval.language.tokens import list_stems
from workflows.checks.reading import read_sentence

_MARKERS = re.compile(rf"(?:{MARKER.pattern}\s*)+")
_LINE = re.compile(r"[^\n]+")
_HEADING = re.compile(r"[ \t]{0,3}#{1,6}\s|[ \t]{0,3}\*\*(?!.*\[\[)[^*\n]*[^*\n.!?。！？]\*\*[ \t]*:?[ \t]*$")
_TABLE_RULE = re.compile(r"[ \t]*\|?[ \t:|-]+\|?[ \t]*$")
_CELL = re.compile(r"[^|\n]+")
_OPENING = re.compile(r"[ \t]*(?:(?:[-*+]|\d{1,3}[.)])[ \t]+|>[ \t]?)*")
_MARKUP = re.compile(r"\*\*|__|(?<!\w)[*_](?=\S)|(?<=\S)[*_](?!\w)|`|\\(?=[^\w\s])")
_BOLD_END = re.compile(r"(?<=[.!?。！？])(?:\*\*|__)(?=\s)")
_STRAY_BLANK = re.compile(r" (?=[.,;:!?](?![\w/`])|[。，；：！？])")
LEAST_TERMS = 2
"""A sentence with fewer meaningful words than this ("In short.") states nothing that could be checked."""


class ClaimSentence(NamedTuple):
    """A claim: `text` is plain, without markers and markup; `[start, end)` is its place in the body, with its markers.

    `keys` are the quotes it cites itself, `leans_on` those of the next marker in its paragraph. `head` is that of the column of a
    table's bare figure; it is empty for all else. `paragraph` counts the stretches between blank lines, such as a whole list.
    """

    text: str
    start: int
    end: int
    keys: tuple[str, ...]
    leans_on: tuple[str, ...]
    head: str = ""
    paragraph: int = 0

    @property
    def is_figure(self) -> bool:
        """Whether it is a bare figure, without words enough to be a statement."""
        return not _makes_statement(self.text)

    @property
    def statement(self) -> str:
        """What it states, with the head of a bare figure."""
        return f"{self.head}: {self.text}" if self.head else self.text


class _Block(NamedTuple):
    """A paragraph, list item or table cell at `[start, end)`; `around` are the keys of a cell's row, or of the table's head.

    `head` is that of a cell's column; None outside of tables. `paragraph` is as for claims.
    """

    start: int
    end: int
    paragraph: int
    around: tuple[str, ...] = ()
    head: str | None = None


class _MarkerRun(NamedTuple):
    """Markers in a row: `[start, end)` includes the white space around them, `[first, last)` does not."""

    start: int
    first: int
    last: int
    end: int
    keys: tuple[str, ...]


def claims_of(body: str) -> list[ClaimSentence]:
    """Return the claims of one body, in order. Headings, table heads, fragments and code between fences are no claims."""
    found: list[ClaimSentence] = []
    for block in _split_blocks(body):
        for sentence in _add_leaning(_split_sentences(body, block), block.around):
            if _makes_statement(sentence.text):
                found.append(sentence._replace(paragraph=block.paragraph))
            elif block.head is not None and read_sentence(sentence.text).exact_numbers:
                found.append(sentence._replace(head=block.head, paragraph=block.paragraph))
    return found


def _makes_statement(text: str) -> bool:
    return len(list_stems(text)) >= LEAST_TERMS


def _split_blocks(body: str) -> Iterator[_Block]:
    """Yield paragraphs, list items and table cells, without their opening marks."""
    start = end = -1
    paragraph = 0
    head, titles = tuple[str, ...](), list[str]()
    lines, code = list(_LINE.finditer(body)), find_fenced_code(body)
    for place, line in enumerate(lines):
        if code.holds(line.start()):
            if start >= 0:
                yield _Block(start, end, paragraph)
                start = -1
            continue
        fresh = place == 0 or body[lines[place - 1].end() : line.start()].count("\n") > 1
        opening = _OPENING.match(body, line.start(), line.end())
        begins = opening.end() if opening else line.start()
        table = "|" in line.group() and line.group().lstrip().startswith("|")
        if start >= 0 and (fresh or begins > line.start() or table or _HEADING.match(line.group())):
            yield _Block(start, end, paragraph)
            start = -1
        paragraph += fresh
        if _HEADING.match(line.group()) or (table and _TABLE_RULE.match(line.group())):
            continue
        if table:
            keys, cells = _list_keys(line.group()), list(_CELL.finditer(body, line.start(), line.end()))
            if _is_head(lines, place):
                head, titles = keys, [to_plain(cell.group()) for cell in cells]
            else:
                titles += [""] * (len(cells) - len(titles))
                yield from (
                    _Block(*cell.span(), paragraph, keys or head, title) for cell, title in zip(cells, titles, strict=False)
                )
            continue
        start, end = (begins if start < 0 else start), line.end()
    if start >= 0:
        yield _Block(start, end, paragraph)


def _list_keys(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(key.strip() for key in MARKER.findall(text)))


def _is_head(lines: list[re.Match[str]], place: int) -> bool:
    return place + 1 < len(lines) and _TABLE_RULE.match(lines[place + 1].group()) is not None


def _split_sentences(body: str, block: _Block) -> list[ClaimSentence]:
    """Return the sentences of a block. Markers and the ends of bold are blanked first: they never hide the end of a sentence."""
    text, at = body[block.start : block.end], block.start
    runs = [_read_run(text, found) for found in _MARKERS.finditer(text)]
    spans = split_sentences(_BOLD_END.sub("  ", _blank_markers(text, runs)))
    limits = [*(span.start for span in spans[1:]), len(text)]
    found: list[ClaimSentence] = []
    for (start, end), limit in zip(spans, limits, strict=False):
        own = [run for run in runs if start <= run.first < limit]
        keys = tuple(dict.fromkeys(key for run in own for key in run.keys))
        last = max([end, *(run.last for run in own)])
        found.append(ClaimSentence(to_plain(text[start:end]), at + start, at + last, keys, ()))
    return found


def _read_run(text: str, found: re.Match[str]) -> _MarkerRun:
    first, end = found.span()
    keys = tuple(key.strip() for key in MARKER.findall(found.group()))
    return _MarkerRun(len(text[:first].rstrip()), first, first + len(found.group().rstrip()), end, keys)


def _blank_markers(text: str, runs: Sequence[_MarkerRun]) -> str:
    """Replace markers by blanks of the same length."""
    blanked = text
    for run in runs:
        blanked = blanked[: run.start] + " " * (run.end - run.start) + blanked[run.end :]
    return blanked


def to_plain(text: str) -> str:
    """Return a text without markers, markup, and the blanks that they leave."""
    return _STRAY_BLANK.sub("", " ".join(_MARKUP.sub("", MARKER.sub("", text)).split()))


def _add_leaning(sentences: Sequence[ClaimSentence], around: tuple[str, ...]) -> Iterator[ClaimSentence]:
    """Let each sentence without a marker lean on the next marker of its block, else on those `around` it."""
    following = around
    leaning: list[ClaimSentence] = []
    for sentence in reversed(sentences):
        following = sentence.keys or following
        leaning.append(sentence if sentence.keys else sentence._replace(leans_on=following))
    return reversed(leaning)
