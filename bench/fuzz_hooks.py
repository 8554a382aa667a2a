"""What schemathesis is told beside its configuration; see bench/fuzz_api.py."""

from typing import Any
from uuid import uuid4

import schemathesis

from app.http.openapi.route_defaults import IDEMPOTENCY_KEY

NAME, EXAMPLE = str(IDEMPOTENCY_KEY["name"]), IDEMPOTENCY_KEY["example"]


@schemathesis.hook
def map_headers(_: Any, headers: dict[str, Any] | None) -> dict[str, Any] | None:
    """A key of its own for each request: the document's example, sent with everything, would be refused by all but the first."""
    if headers and headers.get(NAME) == EXAMPLE:
        return {**headers, NAME: str(uuid4())}
    return headers
