"""Edits of a written report: replacements in its whole text, headings included."""

import re
from collections.abc import Iterable

from pydantic import Field

from app.domain.script import count_words
from workflows.agents.quoting import TextSpan, locate_quote
from workflows.agents.steps import StepAnswer

MAX_EDITS = 80
_ELLIPSIS = re.compile(r"\s*(?:…|\.{3,})\s*")
LONG = 12
"""A passage of so many characters is looked for though its blanks or marks differ; a shorter one stands there once, as it is."""
LEAST_KEPT = 0.5
"""The share of its words that a report keeps through all edits together; edits that take more are no edits."""


class EditAnswer(StepAnswer):
    """One replacement."""

    find: str = Field(
        default="",
        description="the passage or heading line to change, copied exactly, long enough to occur only once; a long one by its "
        "first and last words with … between",
    )
    replace: str = Field(default="", description="what stands there instead, with its citations; empty to delete")


def apply_edits(text: str, edits: Iterable[EditAnswer]) -> str:
    """Return the text after the edits whose passage stands in it, in their order; the text itself if they leave too little."""
    changed = text
    for edit in [*edits][:MAX_EDITS]:
        span = _find_place(changed, edit.find.strip())
        if span is not None:
            changed = f"{changed[: span.start]}{edit.replace.strip()}{changed[span.end :]}"
    return changed if count_words(changed) >= LEAST_KEPT * count_words(text) else text


def _find_place(text: str, said: str) -> TextSpan | None:
    """Find the passage, or the stretch between first and last words that are given with an ellipsis between."""
    parts = [said] if said in text else _ELLIPSIS.split(said)
    if len(parts) != 2:
        return _find_words(text, said)
    begun = _find_words(text, parts[0])
    ended = _find_words(text[begun.end :], parts[1]) if begun else None
    return TextSpan(begun.start, begun.end + ended.end) if begun and ended else None


def _find_words(text: str, said: str) -> TextSpan | None:
    if said and text.count(said) == 1:
        return TextSpan(text.index(said), text.index(said) + len(said))
    return locate_quote(text, said) if len(said) >= LONG else None
