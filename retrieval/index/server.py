"""A Qdrant server by URL."""

from retrieval.index.ports import Index


def ServerIndex(url: str) -> Index:
    """Not yet."""
    raise NotImplementedError(url)
