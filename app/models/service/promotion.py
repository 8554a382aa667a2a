"""What moves a role from model to model: promote, hold, release, back and withdraw.

Every function takes a connection with a transaction open: states of versions, canaries and aliases change together. `by` is a
person's address, or `cycle` or `canary`, which a hold stops; `why` is kept with each change.
"""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from app.database.engine import Executor
from app.domain.errors import Conflict
from app.domain.model_versions import CanaryState, ModelVersion, VersionState
from app.domain.served_models import AliasMove, ModelRole
from app.models.service.registry import change_state, get_version
from app.models.service.serving import SETTINGS, end_canary, get_model, move_alias
from app.models.storage import aliases, canaries, role_holds, unneeded, versions
from app.models.storage.served import KnownModel

CYCLE = "cycle"
AUTOMATIC = frozenset({CYCLE, "canary"})
NOBODY = AUTOMATIC | {SETTINGS}
MAY_RETURN = frozenset({VersionState.RETIRED, VersionState.SERVING})
MOST_MOVES = 10_000


async def promote(connection: Executor, version: UUID, name: str, by: str, why: str) -> ModelVersion:
    """Let a version serve all its roles, as the served model `name`. The versions before retire; canaries in these roles end.

    Raises:
        NotFound: there is no such version or served model.
        Conflict: the version may not serve, the served model is another's or gone, or a role is held and no person asks.
    """
    wanted = await get_version(connection, version)
    await versions.hold_all_roles(connection)
    await _require_free(connection, wanted.roles, by)
    if (await get_model(connection, name)).model.version != version:
        raise Conflict(f"{name!r} does not serve {wanted.name}; name a served model of this version")
    for role in wanted.roles:
        await _end_canary(connection, role, version, by, why)
    for role in wanted.roles:
        await _set_serving(connection, role, wanted, by, why)
        await move_alias(connection, role, name, by, why)
    return await get_version(connection, version)


async def hold(connection: Executor, role: ModelRole, by: str, why: str) -> None:
    """Let no cycle and no canary move a role until it is released. A canary that runs there stops, in all its roles."""
    await versions.hold_all_roles(connection)
    await role_holds.hold(connection, role, by, why)
    await _end_canary(connection, role, None, by, why)


async def release(connection: Executor, role: ModelRole) -> None:
    """Let cycles move a role again.

    Raises:
        Conflict: nobody holds it.
    """
    if not await role_holds.release(connection, role):
        raise Conflict(f"nobody holds the {role}")


async def go_back(connection: Executor, role: ModelRole, by: str, why: str) -> Sequence[AliasMove]:
    """Give a role back to who had it before: the newest former holder that may still serve. Its version serves again.

    A version that came with several roles leaves together all that it still has. The move of `role` is the first.

    Raises:
        Conflict: one of them has no such holder, or is held and no person asks.
    """
    await versions.hold_all_roles(connection)
    roles = await _list_held_with(connection, role)
    await _require_free(connection, roles, by)
    return [await _return_to(connection, each, await _find_former(connection, each), by, why) for each in roles]


async def withdraw(connection: Executor, version: UUID, by: str, why: str) -> Sequence[AliasMove]:
    """Withdraw a version for good, and give each role that it has back to who had it before.

    Its served models are gone with it: a run that has one pauses, and offers the present holder.

    Raises:
        NotFound: there is no such version.
        Conflict: it was refused, or a role that it has cannot go back to anybody.
    """
    await versions.hold_all_roles(connection)
    withdrawn = await change_state(connection, version, VersionState.WITHDRAWN, by, why)
    running = (await canaries.list_running(connection)).get(withdrawn.role)
    if running and running.version == version:
        await end_canary(connection, running.id, CanaryState.STOPPED, why)
    moves = []
    for role, alias in (await aliases.list_all(connection)).items():
        if (await get_model(connection, alias.served)).model.version == version:
            moves.append(await _return_to(connection, role, await _find_former(connection, role), by, why))
    await unneeded.mark_version_gone(connection, version)
    return moves


async def require_unmoved(database: Executor, roles: Sequence[ModelRole], since: datetime, name: str) -> None:
    """Return if a cycle that began at `since` may move these roles to the served model `name`: all of them, or none.

    Raises:
        Conflict: somebody holds one, or moved it to another model meanwhile: what the cycle compared with is not what serves,
            and a person's word stands above a cycle's.
    """
    await _require_free(database, roles, CYCLE)
    for role in roles:
        by_people = [move for move in await aliases.list_moves(database, role, MOST_MOVES) if move.by not in NOBODY]
        if by_people and (last := by_people[0]).at > since and last.went_to != name:
            raise Conflict(
                f"{last.by} gave the {role} to {last.went_to} ({last.why}) while this cycle was under way; "
                f"promote {name} by hand, or leave it to the next cycle"
            )


async def _require_free(connection: Executor, roles: Sequence[ModelRole], by: str) -> None:
    for role in roles if by in AUTOMATIC else ():
        if (held := await role_holds.get(connection, role)) is not None:
            raise Conflict(f"the {role} is held by {held.by} ({held.why}); it moves again once it is released")


async def _list_held_with(connection: Executor, role: ModelRole) -> list[ModelRole]:
    """List a role and those further ones that its holder's version is meant for and has now."""
    held = {each: alias.served for each, alias in (await aliases.list_all(connection)).items()}
    known = await get_model(connection, held[role]) if role in held else None
    if known is None or known.model.version is None:
        return [role]
    meant = (await get_version(connection, known.model.version)).roles
    return [role, *(other for other in meant if other is not role and held.get(other) == held[role])]


async def _end_canary(connection: Executor, role: ModelRole, promoted: UUID | None, by: str, why: str) -> None:
    """End the canary of a role: as promoted if its version is, else stopped, which makes its version a candidate again."""
    running = (await canaries.list_running(connection)).get(role)
    if running is None:
        return
    if running.version == promoted:
        await end_canary(connection, running.id, CanaryState.PROMOTED, why)
        return
    await end_canary(connection, running.id, CanaryState.STOPPED, why)
    if (await get_version(connection, running.version)).state is VersionState.CANARY:
        await change_state(connection, running.version, VersionState.CANDIDATE, by, why)


async def _find_former(connection: Executor, role: ModelRole) -> KnownModel:
    """Return the newest former holder of a role that may still serve.

    A move to a former holder is a return: what came between is no former holder any more, so that going back twice goes back
    two models.
    """
    holders: list[str] = []
    for move in reversed(await aliases.list_moves(connection, role, MOST_MOVES)):
        if move.went_to in holders:
            del holders[holders.index(move.went_to) + 1 :]
        else:
            holders.append(move.went_to)
    for name in reversed(holders[:-1]):
        known = await get_model(connection, name)
        if known.gone_at is None and await _may_return(connection, known):
            return known
    present = holders[-1] if holders else "nothing"
    raise Conflict(f"the {role} has {present}, and no former model that may still serve; promote another version instead")


async def _may_return(connection: Executor, known: KnownModel) -> bool:
    version = known.model.version
    return version is None or (await get_version(connection, version)).state in MAY_RETURN


async def _return_to(connection: Executor, role: ModelRole, former: KnownModel, by: str, why: str) -> AliasMove:
    version = await get_version(connection, former.model.version) if former.model.version else None
    await _set_serving(connection, role, version, by, why)
    move = await move_alias(connection, role, former.model.name, by, why)
    assert move is not None
    return move


async def _set_serving(connection: Executor, role: ModelRole, version: ModelVersion | None, by: str, why: str) -> None:
    """Let a version serve if the role is the one it is numbered in; else the version that is numbered in the role retires."""
    if version is not None and version.role is role:
        await change_state(connection, version.id, VersionState.SERVING, by, why)
    elif (serving := await versions.get_serving(connection, role)) is not None:
        await change_state(connection, serving.id, VersionState.RETIRED, by, why)
