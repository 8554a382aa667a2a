"""Turn the citation numbers in a reader's own words into the keys that a report stores."""

import re

from app.domain.citations import MARKER
from app.domain.errors import InvalidInput
from app.domain.report import Report
from app.reports.rendering.numbering import LOOKS_CITED, number_citations

_HEADING = re.compile(r"^ {0,3}#{1,6}\s", re.MULTILINE)
# Renderings put marks behind sentences: they are not the reader's words, and are added again with each rendering.
_MARKS = re.compile("[†‡¶◦△]")


def insert_keys(body: str, report: Report) -> str:
    """Return the text with `[[key]]` for each `[n]`.

    Raises:
        InvalidInput: a number or key that the report does not have, or a heading.
    """
    if _HEADING.search(body):
        raise InvalidInput("the text of a section has no headings; its own is the field `heading`")
    keys = {citation.n: citation.quote.key for citation in number_citations(report).citations}
    known = {quote.key for quote in report.quotes}

    def key_of(match: re.Match[str]) -> str:
        n = int(match.group(1))
        if n not in keys:
            raise InvalidInput(f"there is no citation [{n}] in this report; its numbers go to {max(keys, default=0)}")
        return f"[[{keys[n]}]]"

    text = LOOKS_CITED.sub(key_of, _MARKS.sub("", body))
    if unknown := [key for key in MARKER.findall(text) if key.strip() not in known]:
        raise InvalidInput(f"[[{unknown[0]}]] is no citation of this report; cite by the numbers you see, as [3]")
    return text
