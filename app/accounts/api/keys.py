"""Routes of API keys."""

from uuid import UUID

from litestar import Controller, delete, get, post
from litestar.params import FromPath, JSONBody

from app.accounts.nouns.access import AccessScope
from app.accounts.schemas import KeyPage, MadeKey, NewKey
from app.http.authentication import needs
from app.http.dependencies import AccountsService, CurrentPrincipal
from app.http.openapi.responses import problem_responses
from app.idempotency.api import SHOWN_ONCE


class KeysController(Controller):
    """Keys for programs. A key acts for the person who made it, and ends when that person leaves."""

    path = "/v1/keys"
    tags = ("keys",)
    opt = needs(AccessScope.KEYS_WRITE)

    @get(opt=needs(AccessScope.KEYS_READ), responses=problem_responses())
    async def list_keys(self, accounts: AccountsService, principal: CurrentPrincipal) -> KeyPage:
        """List your keys, as an admin the organisation's: their names, scopes, and when they were last used."""
        return KeyPage(items=list(await accounts.keys.list_all(principal)))

    @post(opt=needs(AccessScope.KEYS_WRITE) | SHOWN_ONCE, responses=problem_responses(400))
    async def make(self, data: JSONBody[NewKey], accounts: AccountsService, principal: CurrentPrincipal) -> MadeKey:
        """Make a key. Only this answer ever shows it."""
        made = await accounts.keys.make(principal, data.name, data.scopes, data.expires_at)
        return MadeKey(key=str(made.key), info=made.info)

    @delete("/{key:uuid}", responses=problem_responses(404))
    async def revoke(self, key: FromPath[UUID], accounts: AccountsService, principal: CurrentPrincipal) -> None:
        """End a key at once, and with it all keys that it made, and those that they made. Admins may end anybody's."""
        await accounts.keys.revoke(principal, key)
