"""Orders to machines in a passage, and in what a model sees of its source."""

import hashlib
import re
from functools import cache
from importlib.resources import files
from urllib.parse import unquote

from app.domain.evidence import Passage, Source
from retrieval.untrusted.injection import InjectionHit, find_injections, names_of

KEPT_TEXTS = 16_384
"""Passages and titles whose hits are remembered, of all runs: they find the same ones again, and one takes a millisecond."""
_known: dict[bytes, tuple[InjectionHit, ...]] = {}
_WORDS_OF_ADDRESS = re.compile(r"[-_+/.?&=#]+")


def find_orders(passage: Passage) -> tuple[str, ...]:
    """Return the names of what is found in a passage and in the data of its source."""
    return names_of((*_find_known(passage.text), *find_in_source(passage.source)))


def find_in_source(source: Source) -> tuple[InjectionHit, ...]:
    """Return the hits in a source's title, author and address, because a model sees them too."""
    address = _WORDS_OF_ADDRESS.sub(" ", unquote(source.url.partition("://")[2]))
    return tuple(hit for text in (source.title, source.author, address) for hit in _find_known(text))


@cache
def finder_version() -> str:
    """Return a digest of the finder's weights and code: what another finder found does not count."""
    parts = sorted(files("retrieval.untrusted").iterdir(), key=lambda part: part.name)
    kept = (part.read_bytes() for part in parts if part.name.endswith((".py", ".gz")))
    return hashlib.blake2b(b"\0".join(kept), digest_size=8).hexdigest()


def _find_known(text: str) -> tuple[InjectionHit, ...]:
    """Find injections in a text that is likely to come again. Its hash is remembered in its place."""
    key = hashlib.blake2b(text.encode(), digest_size=16).digest()
    if key not in _known:
        if len(_known) == KEPT_TEXTS:
            del _known[next(iter(_known))]
        _known[key] = find_injections(text)
    return _known[key]
