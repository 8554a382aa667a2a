"""Allow pages of other sites to use this API from a browser."""

from collections.abc import Collection

from litestar.config.cors import CORSConfig

# The response headers that such a page may read.
EXPOSED = ["ETag", "Location", "Retry-After", "X-Request-ID", "Idempotency-Replayed", "RateLimit-Policy", "RateLimit"]


def cors(origins: Collection[str]) -> CORSConfig:
    """Return the settings for pages of these origins: they may send keys of their own, but never cookies."""
    return CORSConfig(allow_origins=list(origins), allow_credentials=False, expose_headers=EXPOSED, max_age=3_600)
