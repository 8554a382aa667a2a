"""Settings for schemathesis that its configuration file cannot hold; see bench/fuzz_api.py."""

from typing import Any
from uuid import uuid4

import schemathesis

from app.http.openapi.route_defaults import IDEMPOTENCY_KEY

NAME, EXAMPLE = str(IDEMPOTENCY_KEY["name"]), IDEMPOTENCY_KEY["example"]


@schemathesis.hook
def map_headers(_: Any, headers: dict[str, Any] | None) -> dict[str, Any] | None:
    """Give each request a key of its own: with the document's example in all, all but the first would be refused."""
    if headers and headers.get(NAME) == EXAMPLE:
        return {**headers, NAME: str(uuid4())}
    return headers
