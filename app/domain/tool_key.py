"""Decide when two calls of a tool are the same call."""

import hashlib
import json
import unicodedata
from collections.abc import Mapping
from typing import Any


def call_key_of(name: str, arguments: Mapping[str, Any]) -> str:
    """Return the SHA-256 (hex) of a call, ignoring white space and Unicode form. Letter case stays: it may change the result."""
    normal = {k: normalise_text(v) if isinstance(v, str) else v for k, v in arguments.items()}
    told = json.dumps([name, normal], ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()


def normalise_text(text: str) -> str:
    """Return the text in NFKC with single spaces."""
    return " ".join(unicodedata.normalize("NFKC", text).split())
