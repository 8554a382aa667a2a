"""What of the protocol a server does not understand, learnt from its refusals: the one place that decides its dialect.

A refused request was not answered and costs nothing, so asking again in a plainer form is no retry. A field that the refusal
names is left out. Where it names none that we know, in whatever words, the plainer forms are tried one by one; one that is
answered, or that changes the refusal, was what the server did not understand.
"""

import re
from collections.abc import Mapping
from itertools import groupby
from typing import Any

from app.domain.errors import ModelRefused

LIMIT, NEWER_LIMIT = "max_tokens", "max_completion_tokens"
SCHEMA, STREAM, ROLES = "response_format", "stream", "roles"
PLAINER = (SCHEMA, STREAM, ROLES)
"""The plainer forms, in the order in which they are tried: without a schema, in one piece, without a system message."""
_NAMED = re.compile(
    rf"stream_options|{NEWER_LIMIT}|{LIMIT}|response_format|json_schema|temperature|top_p|'stop'|\bseed\b", re.IGNORECASE
)
_FIELDS = {"json_schema": SCHEMA, "'stop'": "stop"}
_COUNTS = re.compile(r"\w*\d\w*")
Body = Mapping[str, Any]


class FormRefused(ModelRefused):
    """The server does not take this request, perhaps for its form. `said` is its reason, `field` what it names as refused."""

    def __init__(self, message: str, said: str, field: str = "") -> None:
        super().__init__(message)
        self.said = said
        self.field = field


class ServerDialect:
    """What to leave out for one server. The limit of tokens is first renamed, then left out."""

    def __init__(self) -> None:
        self.left_out: set[str] = set()
        self.hopeless: set[str] = set()
        """The reasons of refusals that no plainer form mended."""

    def adapt_body(self, body: Body, without: str = "") -> dict[str, Any]:
        """Return the body as this server understands it, and `without` one more thing."""
        left_out = self.left_out | {without}
        adapted = dict(body)
        if LIMIT in left_out and LIMIT in adapted:
            adapted[NEWER_LIMIT] = adapted[LIMIT]
        if STREAM in left_out:
            adapted.pop("stream_options", None)
        if ROLES in left_out:
            adapted["messages"] = join_roles(adapted["messages"])
        return {name: value for name, value in adapted.items() if name not in left_out}


class DialectTrial:
    """The search for the form in which one request is answered. What helped is remembered for its server."""

    def __init__(self, dialect: ServerDialect, body: Body) -> None:
        self._dialect = dialect
        self._body = body
        self._plainer = [form for form in PLAINER if dialect.adapt_body(body, form) != dialect.adapt_body(body)]
        self._tried = ""
        self._reason = ""

    def write_body(self) -> dict[str, Any]:
        """Return the request in the form that is to be tried now."""
        return self._dialect.adapt_body(self._body, self._tried)

    def end(self) -> None:
        """Note that the request was answered."""
        if self._tried:
            self._dialect.left_out.add(self._tried)

    def learn(self, refusal: FormRefused) -> bool:
        """Choose the next form to try; return False when none is left."""
        reason = _COUNTS.sub("", refusal.said)
        if self._tried and reason != self._reason:
            self.end()
        self._tried, self._reason = "", reason
        if named := self._find_named(refusal):
            self._dialect.left_out.add(named)
            return True
        if not self._plainer or reason in self._dialect.hopeless:
            self._dialect.hopeless.add(reason)
            return False
        self._tried = self._plainer.pop(0)
        return True

    def _find_named(self, refusal: FormRefused) -> str:
        """Return the field of the request that a refusal names; empty where it names none that can be left out."""
        sent = self.write_body()
        for named in (refusal.field, *_NAMED.findall(refusal.said)):
            name: str = _FIELDS.get(named.lower(), named.lower())
            if name in (LIMIT, NEWER_LIMIT) and name not in sent:
                name = NEWER_LIMIT if NEWER_LIMIT in sent else LIMIT
            if name in sent and name not in ("model", "messages"):
                return name
        return ""


def join_roles(messages: list[dict[str, str]]) -> list[dict[str, str]]:
    """Return a conversation of two roles in turn: a system text begins the user message after it, neighbours are one message."""
    spoken = [("user" if m["role"] == "system" else m["role"], m["content"]) for m in messages]
    return [
        {"role": role, "content": "\n\n".join(content for _, content in said)}
        for role, said in groupby(spoken, key=lambda m: m[0])
    ]


def remove_limit(body: dict[str, Any]) -> bool:
    """Remove the limit of tokens from one request; return False if it had none."""
    limits = [body.pop(name, None) for name in (LIMIT, NEWER_LIMIT)]
    return any(limit is not None for limit in limits)
