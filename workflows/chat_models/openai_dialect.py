"""The fields of the protocol that a server does not understand, learnt from its refusals.

A refused request costs nothing and was not answered, so asking again without the refused field is no retry.
"""

import re
from typing import Any

LIMIT, NEWER_LIMIT = "max_tokens", "max_completion_tokens"
_NAMED = re.compile(
    rf"stream_options|{NEWER_LIMIT}|{LIMIT}|response_format|json_schema|temperature|top_p|'stop'|\bseed\b", re.IGNORECASE
)
_FIELDS = {"json_schema": "response_format", "'stop'": "stop"}


class ServerDialect:
    """The fields to leave out for one server. The limit of tokens is first renamed, then left out."""

    def __init__(self) -> None:
        self._left_out: set[str] = set()

    def adapt(self, body: dict[str, Any]) -> dict[str, Any]:
        """Return the body as this server understands it."""
        if LIMIT in self._left_out and LIMIT in body:
            body[NEWER_LIMIT] = body[LIMIT]
        for name in self._left_out:
            body.pop(name, None)
        return body

    def learn(self, said: str, body: dict[str, Any]) -> bool:
        """Say whether the refusal names a field that is not necessary; if so, leave it out from now on."""
        for named in _NAMED.findall(said):
            name = _FIELDS.get(named.lower(), named.lower())
            name = name if name in body or name not in (LIMIT, NEWER_LIMIT) else NEWER_LIMIT if NEWER_LIMIT in body else LIMIT
            if name in body:
                self._left_out.add(name)
                return True
        return False


def remove_limit(body: dict[str, Any]) -> bool:
    """Remove the limit of tokens from one request; return False if it had none."""
    limits = [body.pop(name, None) for name in (LIMIT, NEWER_LIMIT)]
    return any(limit is not None for limit in limits)
