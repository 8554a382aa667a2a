"""Find out who sends a request, and whether they may.

A route says in its `opt` what it needs (`needs(AccessScope.RUNS_READ)`), or that it is for everybody (`opt=PUBLIC`). A route that
says neither answers nobody; a test looks for such routes.
"""

import asyncio
from contextlib import nullcontext
from datetime import timedelta
from time import monotonic
from typing import Any

from litestar.connection import ASGIConnection
from litestar.enums import ScopeType
from litestar.handlers import BaseRouteHandler
from litestar.types import ASGIApp, Message, Receive, Scope, Send

from app.accounts.api.cookies import SESSION_COOKIE
from app.accounts.nouns.access import AccessScope, Principal
from app.accounts.nouns.token import digest_token
from app.accounts.service.authentication import Authenticator
from app.database.tenancy import Tenant, act_for
from app.domain.errors import Forbidden, Unauthenticated
from app.http.answer_headers import add_pace_headers
from app.http.guard import READ_METHODS
from app.quotas.service import Limits
from app.runs.service.open_streams import Credential, OpenStream, OpenStreams

PUBLIC = {"public": True}
# The `opt` of a route whose answers may last long: each takes one of its organisation's places.
STREAMS = {"streams": True}
# A body that takes longer to come is answered only if its sender may still send it then.
TRUSTED_FOR = timedelta(seconds=1)
SIGN_IN_HINT = "sign in, or send an API key as `Authorization: Bearer rbk_...`"


def needs(*scopes: AccessScope) -> dict[str, object]:
    """Return the `opt` of a route that needs all these scopes, or of a controller for all of its routes."""
    return {"needs": frozenset(scopes)}


class Authentication:
    """ASGI middleware: everything that a request does happens for the organisation of its sender."""

    def __init__(self, app: ASGIApp, authenticator: Authenticator, limits: Limits, streams: OpenStreams) -> None:
        self._app = app
        self._streams = streams
        self._authenticator = authenticator
        self._limits = limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Find out who asks. A public route does not check, so that an expired credential does not close it."""
        if scope["type"] != ScopeType.HTTP or is_public(scope["route_handler"]) or scope["method"] == "OPTIONS":
            await self._app(scope, receive, send)
            return
        principal, credential = await self._recognise(scope)
        scope["user"] = principal
        admission = await self._limits.admit(principal)
        tenant = Tenant(principal.organisation_id, principal.user_id, principal.key_id, client_address_of(scope))
        streams = scope["route_handler"].opt.get("streams", False)
        if scope["method"] not in READ_METHODS:
            receive = self._check_when_whole(scope, receive)
        with act_for(tenant), self._streams.hold_place(tenant.organisation) if streams else nullcontext():
            await self._answer_stream(credential, scope, receive, add_pace_headers(send, admission) if admission else send)

    def _check_when_whole(self, scope: Scope, receive: Receive) -> Receive:
        """Find out again who asks when a request is whole long after it began: its key or session may have ended meanwhile."""
        until = monotonic() + TRUSTED_FOR.total_seconds()

        async def receive_checked() -> Any:
            message = await receive()
            if message["type"] == "http.request" and not message["more_body"] and monotonic() > until:
                await self._recognise(scope)
            return message

        return receive_checked

    async def _answer_stream(self, credential: Credential, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer the request. A stream whose credential has ended is finished early; a client that comes back is refused."""
        task = asyncio.current_task()
        assert task is not None
        stream = OpenStream(credential, task)

        async def note_and_send(message: Message) -> None:
            if message["type"] == "http.response.body" and message["more_body"]:
                self._streams.note_start(stream)
            await send(message)

        with self._streams.track(stream):
            try:
                await self._app(scope, receive, note_and_send)
            except asyncio.CancelledError:
                if not stream.cut:
                    raise
                task.uncancel()
                await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _recognise(self, scope: Scope) -> tuple[Principal, Credential]:
        """Return the caller and the credential. A key outranks the cookie: a program sends a key on purpose."""
        connection: ASGIConnection[Any, Any, Any, Any] = ASGIConnection(scope)
        given = connection.headers.get("authorization")
        if given is None and (token := connection.cookies.get(SESSION_COOKIE)):
            return await self._authenticator.recognise_session(token), digest_token(token)
        principal = await self._authenticator.recognise_key(_read_bearer(given or ""))
        assert principal.key_id is not None
        return principal, principal.key_id


def client_address_of(scope: Scope) -> str:
    """Return the network address of the request's sender, as far as the server knows it."""
    client = scope.get("client")
    return client[0] if client else ""


async def require_scope(connection: ASGIConnection, handler: BaseRouteHandler) -> None:  # type: ignore[type-arg]
    """Let Litestar check every route. It is a coroutine: Litestar would run a plain function in a thread with each request.

    Raises:
        Unauthenticated: the caller is not known.
        Forbidden: the caller lacks the scope that the route needs.
    """
    if is_public(handler) or connection.scope.get("method") == "OPTIONS":
        return
    principal = connection.scope.get("user")
    if not isinstance(principal, Principal):
        raise Unauthenticated(SIGN_IN_HINT)
    needed: frozenset[AccessScope] = handler.opt.get("needs", frozenset())
    if not needed:
        raise Forbidden("this route is for nobody")
    require_scopes(principal, needed)


def require_scopes(principal: Principal, needed: frozenset[AccessScope]) -> None:
    """Check that the caller has all these scopes.

    Raises:
        Forbidden: the message names what is missing.
    """
    if missing := ", ".join(sorted(needed - principal.scopes)):
        lacking = f"the scope {missing}, which your role ({principal.role}) or your key does not have"
        raise Forbidden(f"this needs {lacking}; an owner or admin of your organisation can change that")


def is_public(handler: BaseRouteHandler) -> bool:
    """Return True when a route answers without knowing the caller."""
    return bool(handler.opt.get("public", False))


def _read_bearer(given: str) -> str:
    kind, _, credential = given.partition(" ")
    if kind.lower() != "bearer" or not credential.strip():
        raise Unauthenticated(SIGN_IN_HINT)
    return credential.strip()
