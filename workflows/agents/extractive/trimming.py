"""Shorter quotations: a sentence may be quoted up to a clause boundary, never past what it is quoted for, never before a
reservation."""

import re
from dataclasses import replace

from workflows.agents.extractive.sentences import Sentence
from workflows.agents.extractive.words import terms, word_count, words

_BOUNDARY = re.compile(
    r"(?:;|,|\s--|\s?[—–])\s*(?=(?:which|who|whose|whom|where|when|while|with|including|such as|as well as|for|in|by|from"
    r"|at|on|after|before"
    r"|being|having|thus|so that|because|since|until|especially|particularly|[a-z]+ing|[a-z]+ed)\b)"
    r"|;\s*(?!(?:but|yet|except|unless|though|although|however|nevertheless|provided|not|nor|only|save)\b)|[；]",
)
_SOFT = re.compile(
    r"(?:,|;|\s--)?\s+(?=(?:which|who|whose|where|when|while|including|because|although|though|but|starring)\b)|[,;]\s+"
)
"""Places to stop at when a quotation should be as short as it can be."""
_LIST_GOES_ON = re.compile(
    r"(?:and|or)\b(?! (?:he|she|it|they|was|is|has|had)\b)|(?:[\w'’-]+\s+){0,2}[\w'’-]+(?:,|\s+and\b|\s+or\b)"
)
"""What follows a comma that stands between the parts of a list: no place to stop."""
_SUBORDINATE = re.compile(
    r"^(?:as|while|when|whenever|if|although|though|since|because|in|for|by|with|after|before|until|under|upon|on|at|from|to"
    r"|having|being|given|during"
    r"|unless|where|whereas|that|[A-Za-z]+ing)\b",
    re.IGNORECASE,
)
_FINITE = re.compile(
    r"\b(?:is|are|was|were|be|been|has|have|had|will|would|shall|should|may|might|can|could|must|do|does|did|became|become"
    r"|becomes|made|makes|make"
    r"|said|says|say|gave|gives|took|takes|(?<!, )(?<!ly )[a-z]{3,}ed)\b|[\u3400-\u9fff]"
)
_FIGURE_NEXT = re.compile(r"[^,;(（，；。—–]*(?:\d|[〇零一二三四五六七八九十百千万亿]+(?:年|月|日|％|%)|百分之)")
"""A figure before the next pause: it belongs to what is said, so no cut comes just before it."""
_OPENED = (("(", ")"), ("[", "]"), ("“", "”"), ("「", "」"), ("《", "》"))
_SHORTEST = 7
_SHORTEST_TIGHT = 9
_WORTHWHILE = 4
MARGIN = 3


def trim(sentence: Sentence, needed: frozenset[str], most_words: int) -> Sentence:
    """The shortest stretch from the sentence's beginning that keeps the needed terms it holds, where it exceeds `most_words`.

    The sentence itself when it is short enough or has no fitting clause boundary.
    """
    total = word_count(sentence.text)
    if total <= most_words:
        return sentence
    kept = needed & sentence.term_set
    for boundary in _BOUNDARY.finditer(sentence.text):
        head = sentence.text[: boundary.start()].rstrip()
        count = word_count(head)
        if count < _SHORTEST or total - count < _WORTHWHILE or _FIGURE_NEXT.match(sentence.text, boundary.end()):
            continue
        if _whole(head, boundary.group()) and kept <= set(terms(head)):
            return _cut(sentence, head)
    return sentence


def tighten(sentence: Sentence, needed: frozenset[str], most_words: int) -> Sentence:
    """As `trim`, but stops wherever a phrase ends, a few words past the last needed term: answers stand beside what was asked."""
    total = word_count(sentence.text)
    if total <= most_words:
        return sentence
    found = words(sentence.text)
    asked = [place for place, word in enumerate(found) if word.term in needed]
    enough = found[min(len(found) - 1, max((asked or [0])[-1] + MARGIN, _SHORTEST_TIGHT))].start
    for boundary in _SOFT.finditer(sentence.text):
        head = sentence.text[: boundary.start()].rstrip()
        short = total - word_count(head) >= _WORTHWHILE and not _FIGURE_NEXT.match(sentence.text, boundary.end())
        if boundary.end() < enough or not short or _in_list(sentence.text, boundary):
            continue
        if _whole(head, boundary.group()):
            return _cut(sentence, head)
    return sentence


def _whole(head: str, boundary: str) -> bool:
    """Whether a head reads as a clause of its own: nothing left open, a verb past its introduction, no end in mid-phrase."""
    statement = head
    if _SUBORDINATE.match(head) and not boundary.startswith(";"):
        statement = head.partition(",")[2]
    last = words(head)[-1]
    return _closed(head) and bool(last.term) and _FINITE.search(statement) is not None


def _in_list(text: str, boundary: re.Match[str]) -> bool:
    """Whether a boundary is a mere comma between the parts of a list."""
    return boundary.group().strip() == "," and _LIST_GOES_ON.match(text, boundary.end()) is not None


def _closed(text: str) -> bool:
    """Whether every bracket and quotation mark opened in a text is closed in it."""
    return text.count('"') % 2 == 0 and all(text.count(left) == text.count(right) for left, right in _OPENED)


def _cut(sentence: Sentence, head: str) -> Sentence:
    own = tuple(terms(head))
    return replace(sentence, text=head, end=sentence.start + len(head), terms=own, term_set=frozenset(own))
