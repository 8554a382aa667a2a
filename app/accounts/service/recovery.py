"""End what somebody else may have of a person's account, when its password changes."""

from collections.abc import Collection
from uuid import UUID

from app.accounts.nouns.access_list import AccessKind
from app.accounts.storage import access, addresses, people
from app.audit import storage as audit
from app.audit.storage import Action
from app.database.engine import Executor
from app.database.tenancy import Tenant

ENDED = {
    AccessKind.SESSION: Action.SESSION_ENDED,
    AccessKind.KEY: Action.KEY_REVOKED,
    AccessKind.IDENTITY: Action.IDENTITY_UNLINKED,
    AccessKind.INVITATION: Action.INVITATION_WITHDRAWN,
}
# Addresses of people and networks would outlive an erasure here.
TOLD = {AccessKind.SESSION: "began", AccessKind.KEY: "name", AccessKind.IDENTITY: "provider"}


async def end_access(
    connection: Executor, user: UUID, address: str, why: Action, keep: Collection[UUID] = (), key: UUID | None = None
) -> None:
    """End a person's sessions, keys, identities, open invitations and links to a new password; for a transaction.

    What is kept is named by its id. The audit log of each of their organisations says `why`, and what ended there. `address` and
    `key` are those of the request.
    """
    ended = await access.end_access(connection, user, keep)
    await addresses.drop_resets(connection, user)
    for place in [place.id for place in await people.list_organisations(connection, user)]:
        here = Tenant(place, user, key, address)
        await audit.record(connection, why, user, by=here)
        for item in ended:
            if item.organisation in (place, None):
                told = {TOLD[item.kind]: item.name} if item.name else {}
                subject = user if item.kind in (AccessKind.SESSION, AccessKind.IDENTITY) else item.id
                await audit.record(connection, ENDED[item.kind], subject, told, by=here)
