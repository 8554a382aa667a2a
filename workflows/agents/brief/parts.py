"""The parts of a question: it is taken as a whole unless it clearly asks several things, as question marks or a numbered list."""

import re
from itertools import pairwise

from retrieval.language.paragraphs import split_paragraphs
from retrieval.language.sentences import list_sentences
from retrieval.language.tokens import list_stems

FEWEST_STEMS = 2
"""A shorter part ("And why?") is no question of its own."""
_ITEM = re.compile(r"^\s*(?:\(?\d{1,2}[.)、]|[-*•])\s*(?=\S)", re.MULTILINE)
_ASKS = re.compile(r"[?？][\"'”’)\]]*\s*$")


def split_parts(question: str, most: int) -> tuple[str, ...]:
    """Return the parts of a question in order, at most `most`; a question that asks one thing is its only part.

    A part after the first is asked together with what stands before the parts, or with the first part where nothing does,
    since it may speak of "it".
    """
    parts = _list_items(question) or _list_questions(question)
    if not 2 <= len(parts) <= most:
        return (question,)
    lead, first = _lead_of(question, parts[0]), parts[0]
    return tuple(_join(lead or ("" if part is first else first), part) for part in parts)


def _list_items(question: str) -> list[str]:
    """Return the items of a list, where the question is one."""
    marks = list(_ITEM.finditer(question))
    if len(marks) < 2:
        return []
    edges = [*(mark.end() for mark in marks), len(question)]
    starts = [*(mark.start() for mark in marks), len(question)]
    items = [question[edges[i] : end].strip() for i, (_, end) in enumerate(pairwise(starts))]
    return items if all(map(_is_question_of_its_own, items)) else []


def _list_questions(question: str) -> list[str]:
    """Return the sentences that ask, where there are several and each could stand alone."""
    sentences = [s for s in list_sentences(question) if _ASKS.search(s)]
    return [s.strip() for s in sentences if _is_question_of_its_own(s)]


def _is_question_of_its_own(text: str) -> bool:
    return len(list_stems(text)) >= FEWEST_STEMS


def _lead_of(question: str, first: str) -> str:
    """Return what stands before the first part."""
    before = question.partition(first)[0]
    return " ".join(_ITEM.sub("", before).split()) if split_paragraphs(before) else ""


def _join(context: str, part: str) -> str:
    return f"{context} {part}" if context else part
