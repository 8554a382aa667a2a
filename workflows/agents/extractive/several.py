"""Several questions put as one: told apart where each stands by itself, so that each is researched and answered by itself."""

import re

_ASKS = r"(?:how|why|what|when|where|who|which)"
_VERB = r"(?:did|do|does|has|have|had|is|are|was|were|can|could|should|will)"
_JOINTS = re.compile(
    rf"\?\s+(?=(?:{_ASKS}|{_VERB})\b)|[,;]\s*and\s+(?={_ASKS}\b)|\s+and\s+(?=(?:how|why|what)\s+(?:{_VERB}|much|many|long)\b)"
    r"|[？?]\s*(?=\S)",
    re.IGNORECASE,
)
_BEGINS = re.compile(rf"(?:{_ASKS}|{_VERB})\b|.*[\u3400-\u9fff]", re.IGNORECASE)
_POINTS_BACK = re.compile(
    r"\b(?:it|its|they|them|their|he|him|his|she|her|this|that|these|those|there)\b|[它他她这那其]", re.IGNORECASE
)
FEWEST_WORDS = 4
FEWEST_CHARACTERS = 5


def asked_apart(text: str) -> tuple[str, ...]:
    """The questions of a text where they are several, each able to stand alone; else none. A question that points back cannot."""
    pieces = tuple(piece for part in _JOINTS.split(text) if (piece := part.strip(" ,;?？")))
    if len(pieces) > 1 and all(_stands(piece) for piece in pieces):
        return tuple(f"{piece[:1].upper()}{piece[1:]}{'？' if _is_chinese(piece) else '?'}" for piece in pieces)
    return ()


def _stands(piece: str) -> bool:
    long_enough = len(piece) >= FEWEST_CHARACTERS if _is_chinese(piece) else len(piece.split()) >= FEWEST_WORDS
    return long_enough and _BEGINS.match(piece) is not None and _POINTS_BACK.search(piece) is None


def _is_chinese(piece: str) -> bool:
    return any("\u3400" <= char <= "\u9fff" for char in piece)
