"""What a particular server does not understand of the protocol, learnt from its refusals.

A refused request costs nothing and was never answered, so asking again without the refused field is no retry.
"""

import re
from typing import Any

LIMIT, NEWER_LIMIT = "max_tokens", "max_completion_tokens"
_NAMED = re.compile(rf"stream_options|{NEWER_LIMIT}|{LIMIT}|response_format|json_schema|temperature|'stop'", re.IGNORECASE)
_FIELDS = {"json_schema": "response_format", "'stop'": "stop"}


class Dialect:
    """Fields to leave out for one server; the limit of tokens is first renamed, then left out."""

    def __init__(self) -> None:
        self._left_out: set[str] = set()

    def spoken(self, body: dict[str, Any]) -> dict[str, Any]:
        """The body as this server understands it."""
        if LIMIT in self._left_out and LIMIT in body:
            body[NEWER_LIMIT] = body[LIMIT]
        for name in self._left_out:
            body.pop(name, None)
        return body

    def learn(self, said: str, body: dict[str, Any]) -> bool:
        """Whether the refusal names a field that can be done without; if so, it is from now on."""
        for named in _NAMED.findall(said):
            name = _FIELDS.get(named.lower(), named.lower())
            name = name if name in body or name not in (LIMIT, NEWER_LIMIT) else NEWER_LIMIT if NEWER_LIMIT in body else LIMIT
            if name in body:
                self._left_out.add(name)
                return True
        return False


def without_limit(body: dict[str, Any]) -> bool:
    """Take the limit of tokens out of one request; False where it had none."""
    limits = [body.pop(name, None) for name in (LIMIT, NEWER_LIMIT)]
    return any(limit is not None for limit in limits)
