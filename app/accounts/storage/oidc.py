"""Sign-ins on their way to an identity provider and back. For the trusted connection."""

from datetime import timedelta
from typing import NamedTuple

from app.database.engine import Executor, translate_outages

BEGIN = """
    WITH old AS (DELETE FROM oidc_flows WHERE expires_at < now())
    INSERT INTO oidc_flows (state_hash, nonce, verifier, expires_at) VALUES ($1, $2, $3, now() + $4::interval)"""
END = """
    DELETE FROM oidc_flows WHERE state_hash = $1 AND expires_at BETWEEN now() AND now() + $2::interval
    RETURNING nonce, verifier"""


class Flow(NamedTuple):
    """What only the one who began a sign-in can answer for."""

    nonce: str
    verifier: str


async def begin(database: Executor, state_hash: bytes, flow: Flow, valid: timedelta) -> None:
    """Remember a sign-in."""
    async with translate_outages():
        await database.execute(BEGIN, state_hash, *flow, valid)


async def end(database: Executor, state_hash: bytes, valid: timedelta) -> Flow | None:
    """Use it up; None when there is none, or it took longer than `valid`."""
    async with translate_outages():
        row = await database.fetchrow(END, state_hash, valid)
    return Flow(*row) if row else None
