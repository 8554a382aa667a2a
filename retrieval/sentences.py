"""Sentences with exact character offsets, in English and Chinese, without a model.

Rules rather than a trained splitter, because offsets must be exact, the same on every machine and cheap (about 20 MB a second).
A very long sentence, such as nineteenth-century prose strings together, is cut at semicolons so that a quote stays readable.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

MAX_SENTENCE_CHARS = 480
MIN_CLAUSE_CHARS = 120


def _words(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


_NEVER_END = _words("""
    mr mrs ms messrs mme dr prof gen lieut lt col maj capt cpt sgt hon rev gov sen rep adm brig pres supt st ste mt ft vs viz cf
    al ca approx e.g i.e ph jan feb mar apr jun jul aug sept oct nov dec
""")
_MAY_END = _words("""
    jr sr esq inc co corp ltd bros etc inst ult prox no nos art sec secs fig figs vol ch p pp ed eds dept univ a.m p.m b.c a.d
""")
_BEFORE_NUMBER = _words("no nos art arts sec secs fig figs vol vols ch p pp eq par")
_STARTERS = _words("""
    the a an it its this that these those there they their we our he his she her i my you your in on at by for from to of with
    without as if when while where although though since because but and or nor yet so such some many most all each every no not
    only one both either neither under upon over after before during until within through however therefore thus hence moreover
    nevertheless meanwhile what who whom whose which why how let it's is are was were has have had do does did will would shall
    should may might can could must also then here now
""")
_CLOSERS = "\"'”’»)\\]」』）】》"
# One class of characters first, which `re` looks for by itself; three patterns side by side it would try at every character.
_CANDIDATE = re.compile(
    rf"[.!?…。！？](?:(?<=[.!?…])[.!?…]*[{_CLOSERS}]*(?=\s|$)|(?<=[。！？])[!?。！？…{_CLOSERS}]*|(?<=…)…*[”’」』）】》]+)"
)
_WORD_BEFORE = re.compile(r"([A-Za-z0-9][A-Za-z0-9.'’&-]*)$")
_NEXT = re.compile(r"\s*([\"'“‘«(\[]*)([^\W_][\w'’-]*|\S)")
_BLANK_LINE = re.compile(r"\n[ \t\r\f\v　]*\n\s*")
_LINE_BREAK = re.compile(r"[ \t\r\n](?:(?<=\n)|[ \t\r]*\n)")
_LIST_ITEM = re.compile(r"\s*(?:[-*+•·–—]\s|#{1,6}\s|>|\||\(?(?:\d{1,3}|[a-zA-Z]|[ivxIVX]{1,5})[.)]\s)")
_SEMICOLON = re.compile(rf"[;；][{_CLOSERS}]*\s*")
_HEADING_CHARS = 60


class Span(NamedTuple):
    """A stretch `[start, end)` of a text, in characters. The text it names neither begins nor ends in white space."""

    start: int
    end: int


def split_sentences(text: str) -> list[Span]:
    """The sentences of `text` in order: they do not overlap, and only white space lies between them."""
    return [sentence for paragraph in split_paragraphs(text) for sentence in split_sentences_of(text, paragraph)]


def split_sentences_of(text: str, paragraph: Span) -> list[Span]:
    """The sentences of one paragraph of `text`; offsets count from the beginning of `text`."""
    found: list[Span] = []
    for line in _lines(text, paragraph):
        for sentence in _sentences(text, line):
            if sentence.end - sentence.start > MAX_SENTENCE_CHARS:
                found.extend(_clauses(text, sentence))
            else:
                found.append(sentence)
    return found


def split_paragraphs(text: str) -> list[Span]:
    """The stretches of `text` between blank lines, trimmed."""
    if "\n" not in text:
        span = _trimmed(text, 0, len(text))
        return [span] if span.start < span.end else []
    edges = [0, *(edge for gap in _BLANK_LINE.finditer(text) for edge in gap.span()), len(text)]
    spans = (_trimmed(text, start, end) for start, end in zip(edges[::2], edges[1::2], strict=True))
    return [span for span in spans if span.start < span.end]


def _trimmed(text: str, start: int, end: int) -> Span:
    piece = text[start:end]
    left = start + len(piece) - len(piece.lstrip())
    return Span(left, max(left, start + len(piece.rstrip())))


def _lines(text: str, paragraph: Span) -> Iterator[Span]:
    """Cut a paragraph where a line break means more than the page's width: headings, list items, tables, Chinese lines."""
    if text.find("\n", paragraph.start, paragraph.end) < 0:
        yield _trimmed(text, paragraph.start, paragraph.end)
        return
    start = line_start = paragraph.start
    for found in _LINE_BREAK.finditer(text, paragraph.start, paragraph.end):
        if _ends_line(text[line_start : found.start()], text[found.end() : found.end() + 40]):
            yield _trimmed(text, start, found.start())
            start = found.end()
        line_start = found.end()
    yield _trimmed(text, start, paragraph.end)


def _ends_line(line: str, following: str) -> bool:
    if _LIST_ITEM.match(following) or line.lstrip().startswith(("#", "|")):
        return True
    if is_ideograph(line[-1:]) and len(line.strip()) < _HEADING_CHARS:
        return True
    first = following.lstrip()[:1]
    return len(line.strip()) < _HEADING_CHARS and (first.isupper() or is_ideograph(first)) and line[-1:] not in ",;:-"


def is_ideograph(char: str) -> bool:
    """Whether this character is a Chinese (CJK) ideograph."""
    return "\u3400" <= char <= "\u9fff"


def _sentences(text: str, line: Span) -> Iterator[Span]:
    """The sentences of a line, which has no white space around it."""
    start, limit = line
    for found in _CANDIDATE.finditer(text, start, limit):
        following = _NEXT.match(text, found.end(), limit)
        if following is not None and _is_end(text, start, found, following):
            yield Span(start, found.end())
            start = following.start(1)
    if start < limit:
        yield Span(start, limit)


def _is_end(text: str, start: int, found: re.Match[str], following: re.Match[str]) -> bool:
    """Whether the sentence that begins at `start` ends with the mark `found`, given what follows."""
    mark, (opening, word) = text[found.start()], following.groups()
    if mark in "。！？" or is_ideograph(word[0]):
        return not word[0].islower()
    if word[0].islower() or word[0] in ",;:—–-":
        return False
    return (
        mark != "."
        or bool(opening)
        or _period_ends(text[max(start, found.start() - 24) : found.start()], text[start : found.start()], word)
    )


def _period_ends(before: str, sentence: str, word: str) -> bool:
    """Whether the period after `before` ends a sentence, given the `word` that follows it."""
    matched = _WORD_BEFORE.search(before, before.rfind(" ") + 1)
    if matched is None:
        return True
    token = matched.group(1)
    lower = token.lower()
    if lower in _NEVER_END:
        return False
    if word[0].isdigit() and lower in _BEFORE_NUMBER:
        return False
    if token.isdigit() and sentence.strip() == token:
        return False
    shortened = lower in _MAY_END or "." in token or (len(token) == 1 and token.isupper())
    return not shortened or word.lower() in _STARTERS


def _clauses(text: str, sentence: Span) -> Iterator[Span]:
    """Cut an overlong sentence after semicolons into pieces a reader can take in."""
    start = sentence.start
    for found in _SEMICOLON.finditer(text, sentence.start, sentence.end):
        if found.end() - start >= MIN_CLAUSE_CHARS and sentence.end - found.end() >= MIN_CLAUSE_CHARS:
            yield _trimmed(text, start, found.end())
            start = found.end()
    yield Span(start, sentence.end)
