"""The decoding of benchmarks that are published encrypted against crawlers: each row has its key, the canary, beside it."""

import base64
import binascii
import hashlib
from itertools import cycle

from app.domain.errors import InvalidInput


def decode_by_digest(text: str, canary: str) -> str:
    """Decode a text of BrowseComp or BrowseComp-ZH: XOR with the repeated SHA-256 of the canary.

    Raises:
        InvalidInput: the text is not so encoded, or has another canary.
    """
    return _decode(text, hashlib.sha256(canary.encode()).digest())


def decode_by_canary(text: str, canary: str) -> str:
    """Decode a text of xbench: XOR with the repeated canary itself. Raises as `decode_by_digest` does."""
    return _decode(text, canary.encode())


def _decode(text: str, key: bytes) -> str:
    if not key:
        raise InvalidInput("the row has no canary, so it cannot be read")
    try:
        covered = base64.b64decode(text, validate=True)
        return bytes(one ^ other for one, other in zip(covered, cycle(key), strict=False)).decode()
    except (binascii.Error, UnicodeDecodeError) as error:
        raise InvalidInput("the row is not readable under its canary") from error
