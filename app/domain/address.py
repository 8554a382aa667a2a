"""Web addresses as they come: from search results, corpora and models, which may write anything."""

from urllib.parse import urlsplit


def host_of(address: str) -> str:
    """The host that an http or https address names, in lower case; empty for anything else, malformed addresses too."""
    try:
        parts = urlsplit(address)
        return (parts.hostname or "") if parts.scheme in ("http", "https") else ""
    except ValueError:  # brackets that do not close, characters that another host's name hides in
        return ""
