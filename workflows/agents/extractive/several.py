"""Several questions put as one: told apart where each stands by itself, so that each is researched and answered by itself."""

import re

from workflows.agents.extractive.pronouns import named_for, points_back
from workflows.agents.extractive.words import is_light, terms

_ASKS = r"(?:how|why|what|when|where|who|which)"
_VERB = r"(?:did|do|does|has|have|had|is|are|was|were|can|could|should|will)"
_JOINTS = re.compile(
    rf"\?\s+(?=(?:{_ASKS}|{_VERB})\b)|[,;]\s*and\s+(?={_ASKS}\b)|\s+and\s+(?=(?:how|why|what|when|where)\s+(?:{_VERB}|much|many|long)\b)"
    rf"|\s+and\s+(?=who\s+[\w'’-]+\s)|,?\s+and\s+(?={_VERB}\s+(?:it|they|he|she)\b)|[？?]\s*(?=\S)",
    re.IGNORECASE,
)
_BEGINS = re.compile(rf"(?:{_ASKS}|{_VERB})\b|.*[\u3400-\u9fff]", re.IGNORECASE)
FEWEST_WORDS = 3
FEWEST_CHARACTERS = 5


def asked_apart(text: str) -> tuple[str, ...]:
    """The questions of a text where they are several, each able to stand alone; else none.

    One that points back stands alone with the thing named that the one before it is about, where that is one thing.
    """
    pieces = [piece for part in _JOINTS.split(text) if (piece := part.strip(" ,;?？"))]
    for number in range(1, len(pieces)):
        pieces[number] = named_for(pieces[number], pieces[number - 1])
    if len(pieces) > 1 and all(_stands(piece) for piece in pieces):
        return tuple(f"{piece[:1].upper()}{piece[1:]}{'？' if _is_chinese(piece) else '?'}" for piece in pieces)
    return ()


def _stands(piece: str) -> bool:
    long_enough = len(piece) >= FEWEST_CHARACTERS if _is_chinese(piece) else len(piece.split()) >= FEWEST_WORDS
    telling = any(term and not is_light(term) for term in terms(piece))  # "and what was changed" asks of what was said before
    return telling and long_enough and _BEGINS.match(piece) is not None and not points_back(piece)


def _is_chinese(piece: str) -> bool:
    return any("\u3400" <= char <= "\u9fff" for char in piece)
