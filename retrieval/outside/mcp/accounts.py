"""Signing in to MCP servers that ask for OAuth: as the account that a person connected, or as a client of its own.

Nobody is there to sign in when an agent calls. So a person connects a server once (`connecting`), and what came of it lies in a
file of the home that only its owner may read. Workers share it: one of them refreshes it, the others read what it wrote.
"""

import asyncio
import fcntl
import logging
import os
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NoReturn

import httpx2
from mcp.client.auth import OAuthClientProvider, OAuthFlowError
from mcp.client.auth.extensions.client_credentials import ClientCredentialsOAuthProvider
from mcp.client.auth.utils import extract_field_from_www_auth, extract_scope_from_www_auth, union_scopes
from mcp.shared.auth import (
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthMetadata,
    OAuthToken,
    ProtectedResourceMetadata,
)
from mcp.shared.inbound import MCP_PROTOCOL_VERSION_HEADER
from pydantic import BaseModel, ValidationError

from app.domain.errors import RubricaError
from app.private_file import write_private_file
from app.private_folder import make_private_folder
from retrieval.outside.mcp.configuration import SignIn

# The library logs errors of a sign-in with what was sent and answered. They also reach us, who say them without.
logging.getLogger("mcp.client.auth.oauth2").setLevel(logging.CRITICAL)


class SignInNeeded(RubricaError):
    """No request will be answered until a person connects the server, or repairs what it is known by."""


class Account(BaseModel):
    """What a person's sign-in gave, and where it is refreshed. `url` is the MCP server that it is for, and for no other.

    `wanted` are the rights (scopes) that a call needed and the account lacks.
    """

    url: str
    tokens: OAuthToken
    client: OAuthClientInformationFull
    server: OAuthMetadata | None = None
    resource: ProtectedResourceMetadata | None = None
    wanted: str | None = None


class AccountFile:
    """The account of one server, in a folder of the home."""

    def __init__(self, folder: Path, name: str) -> None:
        self.name = name
        self._path = folder / f"{name}.json"

    def read(self, url: str) -> Account | None:
        """Return the account; None where there is none for this address.

        Raises:
            SignInNeeded: the file cannot be read.
        """
        try:
            account = Account.model_validate_json(self._path.read_bytes())
        except FileNotFoundError:
            return None
        except (OSError, ValidationError):
            raise SignInNeeded(f"{self._path} cannot be read; {self.how_to_connect}") from None
        return account if account.url == url else None

    def write(self, account: Account) -> None:
        """Keep an account in place of the one before."""
        make_private_folder(self._path.parent)
        write_private_file(self._path, account.model_dump_json(exclude_none=True))

    @asynccontextmanager
    async def lock(self) -> AsyncIterator[None]:
        """Keep the other processes from refreshing: many servers take a refresh token once."""
        handle = os.open(self._path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            await asyncio.to_thread(fcntl.flock, handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)

    @property
    def how_to_connect(self) -> str:
        """What a person does to sign in."""
        return f"connect it by `rubrica mcp connect {self.name}`"


class MemoryTokens:
    """What the library keeps, in memory."""

    def __init__(self, client: OAuthClientInformationFull | None = None) -> None:
        self._client, self._tokens = client, None  # type: tuple[OAuthClientInformationFull | None, OAuthToken | None]

    async def get_tokens(self) -> OAuthToken | None:
        """Return the tokens."""
        return self._tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        """Keep the tokens."""
        self._tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        """Return what the authorisation server knows us by."""
        return self._client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        """Keep what the authorisation server knows us by."""
        self._client = client_info


class StoredAccount(OAuthClientProvider):
    """Signs requests with the account of the file, and refreshes it where the server refuses it.

    It discovers nothing: the account is refreshed where it was made. A request of a server without an account goes as it is.
    """

    def __init__(self, url: str, file: AccountFile) -> None:
        super().__init__(url, OAuthClientMetadata(redirect_uris=None), MemoryTokens())
        self._url, self._file = url, file

    async def _auth_flow(self, request: httpx2.Request) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        used = self._load(request)
        if used is not None:
            self._add_auth_header(request)
        response = yield request
        if (
            used is not None
            and response.status_code == httpx2.codes.FORBIDDEN
            and extract_field_from_www_auth(response, "error") == "insufficient_scope"
        ):
            self._note_wanted(used, extract_scope_from_www_auth(response))
        if response.status_code != httpx2.codes.UNAUTHORIZED:
            return
        if used is None:
            raise SignInNeeded(f"the MCP server asks for a sign-in; {self._file.how_to_connect}")
        async with self._file.lock():
            now = self._load(request)
            if now is not None and now.tokens.access_token == used.tokens.access_token:
                answer = yield await self._ask_to_refresh()
                self._keep(now, answer.status_code, await answer.aread())
        self._add_auth_header(request)
        if (yield request).status_code == httpx2.codes.UNAUTHORIZED:
            self._refuse("its fresh token is refused")

    def _load(self, request: httpx2.Request) -> Account | None:
        """Read the account into the library's context."""
        account, context = self._file.read(self._url), self.context
        context.protocol_version = request.headers.get(MCP_PROTOCOL_VERSION_HEADER)
        if account is not None:
            context.current_tokens, context.client_info = account.tokens, account.client
            context.oauth_metadata, context.protected_resource_metadata = account.server, account.resource
        return account

    async def _ask_to_refresh(self) -> httpx2.Request:
        if not self.context.can_refresh_token():
            self._refuse("its token has ended, and there is none to refresh it with")
        return await self._refresh_token()

    def _keep(self, account: Account, status: int, answer: bytes) -> None:
        """Keep the tokens of an answer. Its words are not repeated: they may hold what was sent."""
        if status >= httpx2.codes.INTERNAL_SERVER_ERROR or status == httpx2.codes.TOO_MANY_REQUESTS:
            raise httpx2.ConnectError(f"the authorisation server answers {status}")
        if status != httpx2.codes.OK:
            self._refuse(f"the authorisation server answers {status}")
        try:
            fresh = OAuthToken.model_validate_json(answer)
        except ValidationError:
            self._refuse("the authorisation server answers without a token")
        # Both may be left out, which means that they stay as they are.
        kept = {"scope": account.tokens.scope, "refresh_token": account.tokens.refresh_token}
        tokens = fresh.model_copy(update={name: value for name, value in kept.items() if getattr(fresh, name) is None})
        self._file.write(account.model_copy(update={"tokens": tokens}))
        self.context.current_tokens = tokens

    def _note_wanted(self, account: Account, scope: str | None) -> NoReturn:
        """Keep what the server wants, so that the next sign-in asks for it."""
        self._file.write(account.model_copy(update={"wanted": union_scopes(account.tokens.scope, scope)}))
        raise SignInNeeded(f"the MCP server wants more rights than the account has; {self._file.how_to_connect} again")

    def _refuse(self, reason: str) -> NoReturn:
        raise SignInNeeded(f"the account is not taken any more ({reason}); {self._file.how_to_connect} again")


def sign_in_as_client(url: str, known: SignIn) -> httpx2.Auth:
    """Return what signs requests as a client of its own (client credentials), whose secret only its issuer sees."""
    secret = known.client_secret.get_secret_value() if known.client_secret else ""
    return ClientCredentialsOAuthProvider(url, MemoryTokens(), str(known.client_id), secret, issuer=known.issuer)


def find_sign_in_failure(error: BaseException) -> str:
    """Return what a lasting failure of a sign-in says, in an error or a group of them; empty where there is none."""
    if isinstance(error, BaseExceptionGroup):
        return next(filter(None, map(find_sign_in_failure, error.exceptions)), "")
    if isinstance(error, OAuthFlowError):
        return f"the sign-in at the MCP server failed ({describe_flow_error(error)}); look at its `oauth`"
    return str(error) if isinstance(error, SignInNeeded) else ""


def describe_flow_error(error: OAuthFlowError) -> str:
    """Say what went wrong without what was sent: after a colon, the library repeats states and bodies of answers."""
    return str(error).partition(": ")[0]
