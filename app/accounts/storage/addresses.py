"""Keep who has proved that an address is theirs, and the links that prove it. For the trusted connection."""

from datetime import timedelta
from enum import StrEnum
from uuid import UUID

from app.database.engine import Executor, translate_outages


class Purpose(StrEnum):
    """The purpose of a link."""

    VERIFY = "verify"
    RESET = "reset"


# A person has one link for each purpose: the newest.
ADD = """
    WITH old AS (DELETE FROM address_tokens WHERE expires_at < now() OR (user_id = $2 AND purpose = $3))
    INSERT INTO address_tokens (token_hash, user_id, purpose, expires_at) VALUES ($1, $2, $3, now() + $4::interval)"""
TAKE = "DELETE FROM address_tokens WHERE token_hash = $1 AND purpose = $2 AND expires_at > now() RETURNING user_id"
DROP_RESETS = "DELETE FROM address_tokens WHERE user_id = $1 AND purpose = 'reset'"
VERIFIED = "SELECT verified_at IS NOT NULL FROM users WHERE id = $1"
VERIFY = "UPDATE users SET verified_at = now() WHERE id = $1 AND verified_at IS NULL"
MAILED = "UPDATE invitations SET mailed = true WHERE id = $1"


async def add_token(database: Executor, token_hash: bytes, user: UUID, purpose: Purpose, valid: timedelta) -> None:
    """Keep a link's token."""
    async with translate_outages():
        await database.execute(ADD, token_hash, user, purpose, valid)


async def take_token(database: Executor, token_hash: bytes, purpose: Purpose) -> UUID | None:
    """Use a token up; return whose it is, or None when it was used or is too old."""
    async with translate_outages():
        found: UUID | None = await database.fetchval(TAKE, token_hash, purpose)
    return found


async def drop_resets(database: Executor, user: UUID) -> None:
    """End a person's link to a new password."""
    async with translate_outages():
        await database.execute(DROP_RESETS, user)


async def is_verified(database: Executor, user: UUID) -> bool:
    """Return whether the person has proved their address."""
    async with translate_outages():
        return bool(await database.fetchval(VERIFIED, user))


async def verify(database: Executor, user: UUID) -> None:
    """Note that the address is theirs."""
    async with translate_outages():
        await database.execute(VERIFY, user)


async def note_mailed(database: Executor, invitation: UUID) -> None:
    """Note that only the invited address has the token."""
    async with translate_outages():
        await database.execute(MAILED, invitation)
