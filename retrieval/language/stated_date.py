"""The date that a page of HTML states as its own."""

from copy import deepcopy
from datetime import date

from lxml import html as parser
from trafilatura.metadata import extract_metadata

from retrieval.language.dates import read_date

_STATEMENTS = "//meta | //link[@rel='canonical'] | //script[@type='application/ld+json'] | //time"
_STATED_DATES = {"original_date": True, "extensive_search": False}


def read_stated_date(page: parser.HtmlElement) -> date | None:
    """Return the date that a page states where programs read it; its text may mention any date."""
    statements = parser.Element("html")
    for element in page.xpath(_STATEMENTS):
        statements.append(deepcopy(element))
        statements[-1].tail = None
    try:
        return read_date(extract_metadata(statements, date_config=_STATED_DATES).date)
    except (TypeError, ValueError):  # a malformed statement states nothing
        return None
