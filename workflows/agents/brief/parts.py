"""The parts of a question: it is taken as a whole unless it clearly asks several things, as question marks or a numbered list."""

import re
from itertools import pairwise

from retrieval.language.sentences import list_sentences
from retrieval.language.tokens import list_stems

FEWEST_STEMS = 2
"""A shorter part ("And why?") is no question of its own."""
_ITEM = re.compile(r"^\s*(?:\(?\d{1,2}[.)、]|[-*•])\s*(?=\S)", re.MULTILINE)
_ASKS = re.compile(r"[?？][\"'”’)\]]*\s*$")


def split_parts(question: str, most: int) -> tuple[str, ...]:
    """Return the parts of a question in order; one that asks one thing, or more than `most`, is its only part."""
    parts = _split_list(question) or _split_questions(question)
    return parts if 2 <= len(parts) <= most else (question,)


def _split_list(question: str) -> tuple[str, ...]:
    """Return the items of a list, each with what stands before the list."""
    marks = list(_ITEM.finditer(question))
    edges = [*(mark.start() for mark in marks), len(question)]
    items = [question[mark.end() : end].strip() for mark, (_, end) in zip(marks, pairwise(edges), strict=True)]
    lead = " ".join(question[: edges[0]].split())
    return tuple(f"{lead} {item}".strip() for item in items) if all(map(_stands_alone, items)) else ()


def _split_questions(question: str) -> tuple[str, ...]:
    """Return the sentences that ask, each after the first with the first, since it may speak of "it"."""
    asked = [s.strip() for s in list_sentences(question) if _ASKS.search(s) and _stands_alone(s)]
    return tuple(each if each is asked[0] else f"{asked[0]} {each}" for each in asked)


def _stands_alone(text: str) -> bool:
    return len(list_stems(text)) >= FEWEST_STEMS
