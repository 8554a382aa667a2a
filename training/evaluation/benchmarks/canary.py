"""Benchmarks that are published in disguise, so that no crawler reads them: each row under a key that stands beside it."""

import base64
import binascii
import hashlib
from itertools import cycle

from app.domain.errors import InvalidInput


def by_digest(text: str, canary: str) -> str:
    """BrowseComp's way, and BrowseComp-ZH's: the SHA-256 of the canary, repeated, laid over the text.

    Raises:
        InvalidInput: it is no such text, or the canary is another one.
    """
    return _uncovered(text, hashlib.sha256(canary.encode()).digest())


def by_itself(text: str, canary: str) -> str:
    """xbench's way: the canary itself, repeated. Raises as `by_digest`."""
    return _uncovered(text, canary.encode())


def _uncovered(text: str, key: bytes) -> str:
    if not key:
        raise InvalidInput("the row has no canary, so it cannot be read")
    try:
        covered = base64.b64decode(text, validate=True)
        return bytes(one ^ other for one, other in zip(covered, cycle(key), strict=False)).decode()
    except (binascii.Error, UnicodeDecodeError) as error:
        raise InvalidInput("the row is not readable under its canary") from error
