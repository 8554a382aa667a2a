"""The beginning of a membership: by an invitation, or as the first person of an organisation. For the trusted connection."""

from typing import NamedTuple
from uuid import UUID

from app.accounts.nouns.access import Role
from app.database.engine import Executor, translate_outages

OF_TOKEN = "SELECT organisation_id, email, role, mailed FROM invitations WHERE token_hash = $1 AND expires_at > now()"
TAKE = "DELETE FROM invitations WHERE token_hash = $1 AND expires_at > now() RETURNING organisation_id, email, role, mailed"
TAKE_FOR = """
    DELETE FROM invitations WHERE email = $1 AND expires_at > now() RETURNING organisation_id, email, role, mailed"""


class InvitationOffer(NamedTuple):
    """What an invitation offers, and to whom. `mailed`: only the invited address has its token, which proves it."""

    organisation: UUID
    email: str
    role: Role
    mailed: bool


async def find_offer(database: Executor, token_hash: bytes) -> InvitationOffer | None:
    """Return what a token stands for; None when it was used, taken back, or is too old."""
    async with translate_outages():
        row = await database.fetchrow(OF_TOKEN, token_hash)
    return InvitationOffer(row[0], row[1], Role(row[2]), row[3]) if row else None


async def take(database: Executor, token_hash: bytes) -> InvitationOffer | None:
    """Use a token up."""
    async with translate_outages():
        row = await database.fetchrow(TAKE, token_hash)
    return InvitationOffer(row[0], row[1], Role(row[2]), row[3]) if row else None


async def take_all_for(database: Executor, email: str) -> list[InvitationOffer]:
    """Use up every invitation of somebody who has proved that the address is theirs."""
    async with translate_outages():
        rows = await database.fetch(TAKE_FOR, email)
    return [InvitationOffer(row[0], row[1], Role(row[2]), row[3]) for row in rows]
