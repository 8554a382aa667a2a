"""What scholarly providers have in common: one address for a paper whoever found it, and the titles of retracted ones."""

import re

_DOI = re.compile(r"10\.\d{4,9}/\S+")
_RETRACTED = re.compile(r"\s*(?:\[|\()?\s*(?:retracted|withdrawn)(?:\s+article|\s+paper)?\s*(?:\]|\)|:)", re.IGNORECASE)
PREPRINT_VENUES = ("arxiv", "biorxiv", "medrxiv", "chemrxiv", "ssrn", "research square", "preprints")


def bare_doi(text: str | None) -> str:
    """A DOI without resolver or prefix, in lower case; empty where there is none."""
    found = _DOI.search(text or "")
    return found[0].lower().rstrip(".,;") if found else ""


def address(doi: str, fallback: str) -> str:
    """The paper's lasting address: by its DOI, else the provider's."""
    return f"https://doi.org/{doi}" if doi else fallback


def says_retracted(title: str) -> bool:
    """Publishers put it in front of the title."""
    return _RETRACTED.match(title) is not None


def is_preprint_venue(venue: str) -> bool:
    """Whether a venue is a preprint server."""
    return venue.lower().startswith(PREPRINT_VENUES)
