"""A part of a stored source with the quoted words marked."""

from rubrica_client.models import Citation
from ui.components.markup import escape
from ui.language import say

AROUND = 600  # a few lines before the quotation, so that it is in view when the drawer opens
LONGEST_WORD = 40


def passage_html(snapshot: str, citation: Citation, *, whole: bool = False, around: int = AROUND) -> str:
    """Return the quote with `around` characters on each side, or with the whole text, as HTML.

    The marked words are those at the citation's offsets. If they differ from its quote, a note says so.
    """
    start, end = citation.start, citation.end
    first, last = (
        (0, len(snapshot)) if whole else (_find_word_start(snapshot, start - around), _find_word_end(snapshot, end + around))
    )
    cut_before = '<span class="cut">… </span>' if first > 0 else ""
    cut_after = '<span class="cut"> …</span>' if last < len(snapshot) else ""
    differs = f'<div class="r-note bad">{escape(say("source.differs"))}</div>'
    wrong = "" if snapshot[start:end] == citation.quote else differs
    return (
        f'{wrong}<div class="r-source">{cut_before}{escape(snapshot[first:start])}'
        f"<mark>{escape(snapshot[start:end])}</mark>{escape(snapshot[end:last])}{cut_after}</div>"
    )


def _find_word_start(text: str, position: int) -> int:
    """Return a position at or after this one where a word begins; this one if no word begins near it."""
    if position <= 0:
        return 0
    space = text.find(" ", position, position + LONGEST_WORD)
    return space + 1 if space >= 0 else position


def _find_word_end(text: str, position: int) -> int:
    if position >= len(text):
        return len(text)
    space = text.rfind(" ", position - LONGEST_WORD, position)
    return space if space >= 0 else position
