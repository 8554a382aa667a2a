"""The operator's acts as the API takes them: by admins of the operator's organisation, and nobody else."""

from uuid import UUID

import asyncpg

from app.accounts.nouns.access import AccessScope, Principal
from app.accounts.storage import people
from app.database.tenancy import get_tenant
from app.domain.errors import Forbidden
from app.domain.model_versions import ModelVersion
from app.domain.served_models import ModelRole
from app.models.service import registry
from app.models.service.acts import Actor, ModelActs
from app.models.storage import served


class Operation:
    """The acts of the organisation that operates this deployment.

    Raises:
        Forbidden: the caller's organisation does not operate it.
        NotFound, Conflict: as `promotion`; nothing is changed then.
        Unavailable: the database does not answer.
    """

    def __init__(self, trusted: asyncpg.Pool, operator: UUID) -> None:
        self._trusted = trusted
        self._operator = operator
        self._acts = ModelActs(trusted)

    def is_operator(self, principal: Principal) -> bool:
        """Say whether the caller's organisation operates this deployment."""
        return principal.organisation_id == self._operator

    def may_act(self, principal: Principal) -> bool:
        """Say whether the caller may promote, hold and take back."""
        return self.is_operator(principal) and AccessScope.MODELS_MANAGE in principal.scopes

    def require_operator(self, principal: Principal) -> None:
        """Require that the caller's organisation operates this deployment."""
        if not self.is_operator(principal):
            raise Forbidden("only the organisation that operates this deployment may do this (RUBRICA_OPERATOR)")

    async def require_actor(self, principal: Principal) -> Actor:
        """Return the caller as the operator's logs name them."""
        self.require_operator(principal)
        person = await people.find_by_id(self._trusted, principal.user_id)
        return Actor(person.email if person else str(principal.user_id), get_tenant())

    async def list_offered(self, principal: Principal) -> list[str]:
        """List the served models by which the caller may have second reports written: for the operator's people all there are."""
        if not self.is_operator(principal):
            return []
        return [known.model.name for known in await served.list_all(self._trusted) if known.gone_at is None]

    async def promote(self, principal: Principal, version: UUID, as_served: str, why: str) -> ModelVersion:
        """Let a version serve its role, by default as the served model of its name."""
        actor = await self.require_actor(principal)
        name = as_served or (await registry.get_version(self._trusted, version)).name
        return await self._acts.promote(version, name, actor, why)

    async def hold(self, principal: Principal, role: ModelRole, why: str) -> None:
        """Let no cycle move a role."""
        await self._acts.hold(role, await self.require_actor(principal), why)

    async def release(self, principal: Principal, role: ModelRole, why: str) -> None:
        """Let cycles move a role again."""
        await self._acts.release(role, await self.require_actor(principal), why)

    async def go_back(self, principal: Principal, role: ModelRole, why: str) -> None:
        """Give a role back to who had it before."""
        await self._acts.go_back(role, await self.require_actor(principal), why)
