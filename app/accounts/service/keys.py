"""Make, list and revoke the API keys of an organisation."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from app.accounts.nouns.access import AccessScope, Principal, Role
from app.accounts.nouns.api_key import ApiKey
from app.accounts.nouns.team import KeyInfo
from app.accounts.service.authentication import UNKNOWN_KEY
from app.accounts.storage import team
from app.audit import storage as audit
from app.audit.storage import Action
from app.database.engine import Executor
from app.database.tenancy import TenantDatabase
from app.domain.errors import Forbidden, NotFound, Unauthenticated


class IssuedKey(NamedTuple):
    """A new key with its details; the key is shown once."""

    info: KeyInfo
    key: ApiKey


class Keys:
    """The use cases around keys. A key acts for the person who made it, and can do no more than its maker.

    Admins see and end all keys of their organisation, others their own.

    Raises:
        Unavailable: the database does not answer.
    """

    def __init__(self, tenants: TenantDatabase) -> None:
        self._tenants = tenants

    async def list_all(self, principal: Principal) -> Sequence[KeyInfo]:
        """List the keys that are not revoked and that the caller may see, newest first."""
        return await team.list_keys(self._tenants, _whose_keys(principal))

    async def make(
        self, principal: Principal, name: str, scopes: Iterable[AccessScope], expires_at: datetime | None
    ) -> IssuedKey:
        """Make a key.

        Raises:
            Forbidden: it would be able to do more than the caller, or for longer than the key that makes it.
            Unauthenticated: the key that makes it was revoked since the request began.
        """
        wanted = frozenset(scopes)
        if beyond := sorted(wanted - principal.scopes):
            raise Forbidden(f"a key cannot do more than you: you have not {', '.join(beyond)}")
        key = ApiKey.new()
        async with self._tenants.acquire() as connection:
            if principal.key_id:
                await _require_maker(connection, principal.key_id, expires_at)
            info = await team.add_key(connection, key, principal.user_id, name, wanted, expires_at)
            await audit.record(connection, Action.KEY_MADE, key.id, {"name": name})
        return IssuedKey(info, key)

    async def revoke(self, principal: Principal, key: UUID) -> None:
        """End a key at once, and with it the keys that it made, and those that they made.

        Raises:
            NotFound: no such key that the caller may see, or it has ended.
        """
        async with self._tenants.acquire() as connection:
            ended = await team.revoke(connection, key, _whose_keys(principal))
            if not ended:
                raise NotFound("there is no such key; it may be revoked already")
            for revoked, name in ended.items():
                await audit.record(connection, Action.KEY_REVOKED, revoked, {"name": name})


def _whose_keys(principal: Principal) -> UUID | None:
    """Return the person whose keys a caller may see and end; None for everybody's."""
    return None if principal.role.reaches(Role.ADMIN) else principal.user_id


async def _require_maker(connection: Executor, maker: UUID, expires_at: datetime | None) -> None:
    """Check that a key may make one with this end."""
    held = await team.hold_maker(connection, maker)
    if held is None:
        raise Unauthenticated(UNKNOWN_KEY)
    end = held.expires_at
    if end is not None and (expires_at is None or expires_at > end):
        raise Forbidden(f"a key cannot make one that outlives it: set `expires_at` to {end.isoformat()} at the latest")
