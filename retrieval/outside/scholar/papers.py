"""The common parts of scholarly providers: one address for each paper, and the signs of retracted papers and preprints."""

import re

_DOI = re.compile(r"10\.\d{4,9}/\S+")
_RETRACTED = re.compile(r"\s*(?:\[|\()?\s*(?:retracted|withdrawn)(?:\s+article|\s+paper)?\s*(?:\]|\)|:)", re.IGNORECASE)
PREPRINT_VENUES = ("arxiv", "biorxiv", "medrxiv", "chemrxiv", "ssrn", "research square", "preprints")


def find_doi(text: str | None) -> str:
    """Return the DOI of a text without resolver or prefix, in lower case; empty where there is none."""
    found = _DOI.search(text or "")
    return found[0].lower().rstrip(".,;") if found else ""


def paper_address_of(doi: str, fallback: str) -> str:
    """Return a paper's lasting address: by its DOI, else the provider's."""
    return f"https://doi.org/{doi}" if doi else fallback


def is_marked_retracted(title: str) -> bool:
    """Say whether a title begins with a publisher's note of retraction."""
    return _RETRACTED.match(title) is not None


def is_preprint_venue(venue: str) -> bool:
    """Say whether a venue is a preprint server."""
    return venue.lower().startswith(PREPRINT_VENUES)
