"""Sentences with exact character offsets, in English and Chinese, without a model.

Rules rather than a trained splitter, because offsets must be exact, the same on every machine and cheap.
A very long sentence, such as nineteenth-century prose strings together, is cut at semicolons so that a quote stays readable.
"""

import re
from collections.abc import Iterator

from app.domain.script import is_ideograph
from retrieval.language.paragraphs import Span, split_lines, split_paragraphs, trim_span
from retrieval.language.word_lists import read_lists

MAX_SENTENCE_CHARS = 480
MIN_CLAUSE_CHARS = 120
BRACKET_CHARS = 160
"""The most characters of a remark in brackets, or of words in quotation marks, within which no sentence ends."""
LEADER = 5
"""So many dots lead from a name to its figure in a list."""
CELL = " | "
"""What stands between the cells of a row, as the readers of files write it. A row is read as a whole."""
_LISTS = {name: frozenset(words) for name, words in read_lists("abbreviations.toml").items()}
_NEVER_END, _MAY_END = _LISTS["never_end"], _LISTS["may_end"] | _LISTS["german"]
_BEFORE_NUMBER, _STARTERS = _LISTS["before_number"], _LISTS["starters"]
_WEEKDAYS, _GERMAN_MONTHS = _LISTS["weekdays"], _LISTS["german_months"]
_CLOSERS = "\"'”’»)\\]」』）】》"
# One class of characters comes first, for which `re` looks by itself: three patterns side by side take three times as long.
# A run of marks is tried from its first one only: what strangers wrote may consist of nothing else.
_CANDIDATE = re.compile(
    rf"[.!?…。！？؟۔।](?:(?<=[.!?…؟۔।])(?<![.!?…؟۔।]{{2}})[.!?…؟۔।]*[{_CLOSERS}]*(?=\s|$)"
    rf"|(?<=[。！？])[!?。！？…{_CLOSERS}]*|(?<=…)(?<!……)…*[”’」』）】》]+)"
)
_WORD_BEFORE = re.compile(r"([A-Za-z0-9À-ɏ][A-Za-z0-9À-ɏ.'’&-]*)$")
_NEXT = re.compile(r"\s*([\"'“‘«(\[]*)([^\W_][\w'’-]*|\S)")
_BRACKET_END = re.compile(r"[)）]")
_OPENER = re.compile('[(（"“]')
_QUOTE_END = re.compile(r"[\"”](?P<on>(?=,| [a-z]))?")
_SEMICOLON = re.compile(rf"[;；][{_CLOSERS}]*\s*")


def split_sentences(text: str) -> list[Span]:
    """Find the sentences of `text` in order: they do not overlap, and only white space lies between them."""
    return [sentence for paragraph in split_paragraphs(text) for sentence in split_sentences_of(text, paragraph)]


def split_sentences_of(text: str, paragraph: Span) -> list[Span]:
    """Find the sentences of one paragraph of `text`; offsets count from the beginning of `text`."""
    lines = split_lines(text, paragraph)
    sentences = (sentence for line in lines for sentence in ([line] if _is_row(text, line) else _sentences(text, line)))
    return [clause for sentence in sentences for clause in _clauses(text, sentence)]


def list_sentences(text: str) -> list[str]:
    """Read the sentences of `text` as texts."""
    return [text[start:end] for start, end in split_sentences(text)]


def _is_row(text: str, line: Span) -> bool:
    return text.find(CELL, line.start, line.end) >= 0


def _sentences(text: str, line: Span) -> Iterator[Span]:
    """Return the sentences of a line, which has no white space around it."""
    start, limit = line
    for found in _CANDIDATE.finditer(text, start, limit):
        following = _NEXT.match(text, found.end(), limit)
        if following is not None and _is_end(text, start, found, following) and not _is_inside(text, start, found.end(), limit):
            yield Span(start, found.end())
            start = following.start(1)
    if start < limit:
        yield Span(start, limit)


def _is_inside(text: str, start: int, at: int, limit: int) -> bool:
    """Say whether a place of the sentence that begins at `start` is in a remark in brackets, which ends in the same line.

    So is one between quotation marks behind which the sentence goes on: he wrote "We came. We saw", and left.
    """
    first = max(start, at - BRACKET_CHARS)
    if _OPENER.search(text, first, at) is None:
        return False
    opened = max(text.rfind("(", first, at), text.rfind("（", first, at))
    if opened >= 0 and not _BRACKET_END.search(text, opened, at):
        return _BRACKET_END.search(text, at, min(limit, opened + BRACKET_CHARS)) is not None
    opened = max(text.rfind('"', first, at), text.rfind("“", first, at))
    if opened < 0 or "”" in text[opened:at] or (text[opened] == '"' and not _opens(text, start, opened)):
        return False
    closed = _QUOTE_END.search(text, at, min(limit, opened + BRACKET_CHARS))
    return closed is not None and closed.group("on") is not None


def _opens(text: str, start: int, mark: int) -> bool:
    """Say whether a straight quotation mark opens: it stands behind no word, nor behind another that opens."""
    return text.count('"', start, mark) % 2 == 0 and not text[max(start, mark - 1) : mark].strip(" ([-–—")


def _is_end(text: str, start: int, found: re.Match[str], following: re.Match[str]) -> bool:
    """Say whether the sentence that begins at `start` ends with the mark `found`, given what follows."""
    mark, (opening, word) = text[found.start()], following.groups()
    if mark in "。！？" or is_ideograph(word[0]):
        return not word[0].islower()
    if word[0].islower() or word[0] in ",;:—–-+&=/|" or found.group().count(".") >= LEADER:
        return False
    return (
        mark != "."
        or bool(opening)
        or _period_ends(text[max(start, found.start() - 24) : found.start()], text[start : found.start()], word)
    )


def _period_ends(before: str, sentence: str, word: str) -> bool:
    """Say whether the period after `before` ends a sentence, given the `word` that follows it."""
    matched = _WORD_BEFORE.search(before)
    if matched is None:
        return True
    token = matched.group(1)
    lower = token.lower()
    if lower in _NEVER_END:
        return False
    if word[0].isdigit() and (lower in _BEFORE_NUMBER or token in _WEEKDAYS):
        return False
    if token.isdigit() and (sentence.strip() == token or (len(token) <= 2 and word.lower() in _GERMAN_MONTHS)):
        return False
    parted = (len(word) == 1 and (token + word).isalpha()) or f"{lower}.{word.lower()}" in _MAY_END  # "z. B." is "z.B."
    initial = len(token) == 1 and (token.isupper() or parted)
    shortened = initial or lower in _MAY_END or "." in token
    return not shortened or word.lower() in _STARTERS


def _clauses(text: str, sentence: Span) -> Iterator[Span]:
    """Yield the sentence; cut one that is overlong after semicolons into pieces a reader can take in."""
    start = sentence.start
    semicolons = _SEMICOLON.finditer(text, *sentence) if sentence.end - start > MAX_SENTENCE_CHARS else ()
    for found in semicolons:
        if found.end() - start >= MIN_CLAUSE_CHARS and sentence.end - found.end() >= MIN_CLAUSE_CHARS:
            yield trim_span(text, start, found.end())
            start = found.end()
    yield Span(start, sentence.end)
