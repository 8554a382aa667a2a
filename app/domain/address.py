"""Read web addresses as they come: from search results, corpora and models, which may write anything."""

from urllib.parse import urlsplit


def host_of(address: str) -> str:
    """Return the host of an http or https address, in lower case; empty for anything else, malformed addresses too."""
    try:
        parts = urlsplit(address)
        return (parts.hostname or "") if parts.scheme in ("http", "https") else ""
    except ValueError:  # unclosed brackets, or characters that hide another host's name
        return ""
