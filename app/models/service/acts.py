"""What the operator does to models that serve: each act is one transaction, with its line in the operator's audit log."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import NamedTuple
from uuid import UUID

import asyncpg

from app.accounts.storage import organisations
from app.audit import storage as audit
from app.audit.storage import Action
from app.database.engine import Executor, translate_outages
from app.database.tenancy import Tenant
from app.domain.model_versions import ModelVersion
from app.domain.served_models import AliasMove, ModelRole
from app.models.service import promotion


class Actor(NamedTuple):
    """Who acts: the words that the registry keeps (a person's address), and whose act it is in the audit log."""

    name: str
    tenant: Tenant


class ModelActs:
    """The acts of the operator, over the trusted pool. Each has a reason, which is kept.

    Raises:
        NotFound, Conflict: as `promotion`; nothing is changed then.
        Unavailable: the database does not answer.
    """

    def __init__(self, trusted: asyncpg.Pool) -> None:
        self._trusted = trusted

    async def promote(self, version: UUID, served: str, by: Actor, why: str) -> ModelVersion:
        """Let a version serve its roles, as this served model."""
        async with open_act(self._trusted) as connection:
            promoted = await promotion.promote(connection, version, served, by.name, why)
            await record_act(connection, by, Action.MODEL_PROMOTED, promoted.name, {"served": served, "why": why})
        return promoted

    async def hold(self, role: ModelRole, by: Actor, why: str) -> None:
        """Let no cycle move a role, and stop its canary."""
        async with open_act(self._trusted) as connection:
            await promotion.hold(connection, role, by.name, why)
            await record_act(connection, by, Action.ROLE_HELD, role, {"why": why})

    async def release(self, role: ModelRole, by: Actor, why: str) -> None:
        """Let cycles move a role again."""
        async with open_act(self._trusted) as connection:
            await promotion.release(connection, role)
            await record_act(connection, by, Action.ROLE_RELEASED, role, {"why": why})

    async def go_back(self, role: ModelRole, by: Actor, why: str) -> Sequence[AliasMove]:
        """Give a role back to who had it before, with what its holder's version has besides."""
        async with open_act(self._trusted) as connection:
            moves = await promotion.go_back(connection, role, by.name, why)
            for move in moves:
                await record_act(connection, by, Action.ROLE_TAKEN_BACK, move.role, {"served": move.went_to, "why": why})
        return moves

    async def withdraw(self, version: UUID, by: Actor, why: str) -> list[AliasMove]:
        """Withdraw a version for good; its roles go back to who had them before."""
        async with open_act(self._trusted) as connection:
            moves = list(await promotion.withdraw(connection, version, by.name, why))
            await record_act(connection, by, Action.MODEL_WITHDRAWN, version, {"why": why})
        return moves


@asynccontextmanager
async def open_act(trusted: asyncpg.Pool) -> AsyncIterator[Executor]:
    """Open the transaction of one act."""
    async with translate_outages(), trusted.acquire() as connection, connection.transaction():
        yield connection


async def record_act(connection: Executor, by: Actor, action: Action, subject: object, detail: Mapping[str, str]) -> None:
    """Write the act down in the operator's audit log, if this deployment has the operator's organisation yet."""
    if await organisations.exists(connection, by.tenant.organisation):
        await audit.record(connection, action, subject, detail, by.tenant)
