"""What serves each role and since when, which versions there are, and what a reader's own votes were part of."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple
from uuid import UUID

import asyncpg

from app.database.tenancy import TenantDatabase, get_tenant
from app.domain.model_versions import Canary, ModelVersion
from app.domain.served_models import AliasMove, ModelRole, RoleHold
from app.models.service import registry, serving
from app.models.service.canary_course import CanaryCourse, follow_canary
from app.models.service.card import render_card
from app.models.service.registry import VersionDetail
from app.models.storage import aliases, canaries, role_holds, version_pairs, versions
from app.models.storage.aliases import Alias
from app.preferences.service.exportable import list_choices_of
from app.preferences.service.pseudonyms import Pseudonyms, read_key


class RoleStanding(NamedTuple):
    """Who has a role: None where the settings' model was never told of. `version` is None for a model without an entry."""

    role: ModelRole
    alias: Alias | None
    version: ModelVersion | None
    hold: RoleHold | None
    canary: Canary | None


class LearnedVotes(NamedTuple):
    """A version that learned from a reader's votes: from how many of them, of how many judgements in all."""

    version: ModelVersion
    own: int
    judgements: int


class OwnVotes(NamedTuple):
    """A reader's choices between reports, and the versions that learned from some of them."""

    choices: int
    learned: Sequence[LearnedVotes]


class Standings:
    """What everybody may read of the registry. `key_file` has the key of the pseudonyms, once something was exported.

    Raises:
        NotFound: the registry has no such version.
        Unavailable: the database does not answer.
    """

    def __init__(self, tenants: TenantDatabase, trusted: asyncpg.Pool, key_file: Path) -> None:
        self._tenants = tenants
        self._trusted = trusted
        self._key_file = key_file

    async def list_roles(self) -> Sequence[RoleStanding]:
        """Return who has each role."""
        holders, held = await aliases.list_all(self._trusted), await role_holds.list_all(self._trusted)
        running = await canaries.list_running(self._trusted)
        return [
            RoleStanding(role, alias, await self._find_version(alias), held.get(role), running.get(role))
            for role in ModelRole
            for alias in [holders.get(role)]
        ]

    async def list_versions(self, limit: int, role: ModelRole | None, before: UUID | None) -> Sequence[ModelVersion]:
        """Return up to `limit` versions, newest first, older than `before`."""
        if before is not None:
            await registry.get_version(self._trusted, before)
        return await versions.list_page(self._trusted, limit, role, before)

    async def describe(self, version: UUID) -> VersionDetail:
        """Return a version with all that is known of it."""
        return await registry.describe_version(self._trusted, version)

    async def follow(self, trials: Sequence[Canary]) -> Sequence[CanaryCourse]:
        """Return what was seen of each of these canaries."""
        return [await follow_canary(self._trusted, each) for each in trials]

    async def render_card(self, version: UUID) -> str:
        """Return the model card of a version, in Markdown."""
        return render_card(await self.describe(version))

    async def list_moves(self, limit: int, role: ModelRole | None) -> Sequence[AliasMove]:
        """Return the last moves of roles, newest first."""
        return await aliases.list_moves(self._trusted, role, limit)

    async def find_own_votes(self) -> OwnVotes:
        """Return what the choices of the person who asks were part of."""
        user = get_tenant().user
        if user is None or not self._key_file.exists():
            return OwnVotes(0, ())
        own = await list_choices_of(self._tenants, Pseudonyms(read_key(self._key_file)), user)
        learned = [
            LearnedVotes(await registry.get_version(self._trusted, version), *counts)
            for version, counts in (await version_pairs.count_among(self._trusted, own)).items()
        ]
        return OwnVotes(len(own), sorted(learned, key=lambda each: each.version.created_at, reverse=True))

    async def _find_version(self, alias: Alias | None) -> ModelVersion | None:
        if alias is None:
            return None
        version = (await serving.get_model(self._trusted, alias.served)).model.version
        return await registry.get_version(self._trusted, version) if version else None
