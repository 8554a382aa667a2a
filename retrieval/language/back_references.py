"""Sentences that their reader understands only after the one before: their first words stand for what is named there."""

import re

from app.domain.script import is_ideograph

OPENING = 60
"""The characters in which "this service" stands for a service named before; an ideograph says as much as three letters."""
_NOT_ITSELF = (
    r"(?! (?:agreement|article|book|chapter|continent|contract|country|day|document|government|hemisphere|lease|message|moment"
    r"|nation|paper|report|section|study|text|year)\b)"
)
_FIRST = re.compile(
    r"(?:(?:and|but|if)\s+)?(?!it\b[^.]{1,80}\b(?:that|to)\b)"
    rf"(?:it|its|this{_NOT_ITSELF}|that|these|those|they|their|he|his|she|her|such|both|neither)\b"
    r"|(?:here|there(?! (?:is|are|was|were|has|have|had|will|may|can|should|must)\b)|however|but|then|if so|therefore|thus"
    r"|consequently|accordingly)\b"
    r"|[它他她]们?|[这這那此其该該]|但|不过|不過|然而|因此|同年|同时|同時|当时|當時",
    re.IGNORECASE,
)
_WITHIN = re.compile(rf"\b(?:this{_NOT_ITSELF}|such|the (?:latter|former))\b|[这這该該此]", re.IGNORECASE)


def points_back(sentence: str) -> bool:
    """Say whether the first words of a sentence stand for what the one before names; "this:" stands for what follows."""
    opening = OPENING // 3 if is_ideograph(sentence[:1]) else OPENING
    within = not sentence.endswith((":", "：")) and _WITHIN.search(sentence, 0, opening) is not None
    return within or _FIRST.match(sentence) is not None
