"""Which pages of other sites may use this API from a browser."""

from collections.abc import Collection

from litestar.config.cors import CORSConfig

# What a page may see of an answer beside its body.
EXPOSED = [
    *("ETag", "Location", "Retry-After", "X-Request-ID", "Idempotency-Replayed"),
    *("RateLimit-Policy", "RateLimit"),
]


def cors(origins: Collection[str]) -> CORSConfig:
    """Pages of these origins may send keys of their own; cookies are never theirs to send."""
    return CORSConfig(allow_origins=list(origins), allow_credentials=False, expose_headers=EXPOSED, max_age=3_600)
