"""The registry of versions: add what was trained, change where it stands, and read what is known of it.

Functions that change something take a connection with a transaction open, so that a caller can move an alias in it too.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from pydantic import Field

from app.database.engine import Executor
from app.domain.errors import Conflict, InvalidInput, NotFound
from app.domain.model_versions import (
    Canary,
    Evaluation,
    EvaluationKind,
    ModelVersion,
    StateChange,
    TrainedModel,
    VersionState,
)
from app.domain.served_models import AliasMove, ModelRole
from app.domain.value import Value
from app.models.storage import version_pairs, versions

CANDIDATE, CANARY, SERVING = VersionState.CANDIDATE, VersionState.CANARY, VersionState.SERVING
REFUSED, RETIRED, WITHDRAWN = VersionState.REFUSED, VersionState.RETIRED, VersionState.WITHDRAWN
LEGAL: Mapping[VersionState, frozenset[VersionState]] = {
    CANDIDATE: frozenset({CANARY, SERVING, REFUSED, WITHDRAWN}),
    CANARY: frozenset({SERVING, REFUSED, WITHDRAWN, CANDIDATE}),
    SERVING: frozenset({RETIRED, WITHDRAWN}),
    RETIRED: frozenset({SERVING, WITHDRAWN}),
    REFUSED: frozenset(),
    WITHDRAWN: frozenset(),
}
ENDED = frozenset(state for state, following in LEGAL.items() if not following)
NUMBERED = re.compile(r"(?P<role>[a-z]+)-v(?P<number>[1-9][0-9]{0,8})(?:-(?P<artifact>[0-9a-f]{12}))?")


class VersionDetail(Value):
    """A version with all that the registry knows of it, each list oldest first.

    `lineage` has all that it descends from and all that descends from it. `pairs` counts the rows of exports that it learned
    from, as far as they are not erased.
    """

    version: ModelVersion
    changes: tuple[StateChange, ...]
    evaluations: tuple[Evaluation, ...]
    canaries: tuple[Canary, ...]
    moves: tuple[AliasMove, ...]
    lineage: tuple[ModelVersion, ...]
    pairs: int = Field(ge=0)


async def add_version(
    connection: Executor, version: UUID, made: TrainedModel, pairs: Sequence[str], by: str, why: str
) -> ModelVersion:
    """Add a candidate under the next number of its role, with the rows it learned from. Sent twice, it is added once.

    Raises:
        NotFound: its parent is not in the registry.
    """
    await versions.hold_role(connection, made.role)
    if (known := await versions.get(connection, version)) is not None:
        return known
    if made.parent is not None and await versions.get(connection, made.parent) is None:
        raise NotFound(f"the registry has no version {made.parent}; add the parent first")
    added = await versions.add(connection, version, made)
    assert added is not None
    await versions.set_state(connection, version, CANDIDATE, by, why)
    await version_pairs.add(connection, version, pairs)
    return added


async def change_state(connection: Executor, version: UUID, state: VersionState, by: str, why: str) -> ModelVersion:
    """Change a version's state. One that begins to serve retires the one that served before it. The same state changes nothing.

    Raises:
        NotFound: the registry has no such version.
        Conflict: this state does not follow from the present one.
    """
    held = await _hold(connection, version)
    if held.state is state:
        return held
    if state not in LEGAL[held.state]:
        raise Conflict(f"{held.name} is {held.state}; from there it cannot become {state}{_list_ways(held.state)}")
    if state is SERVING and (before := await versions.get_serving(connection, held.role)) is not None:
        await versions.set_state(connection, before.id, RETIRED, by, f"{held.name} serves instead: {why}")
    await versions.set_state(connection, version, state, by, why)
    return held.model_copy(update={"state": state})


async def note_evaluation(database: Executor, version: UUID, kind: EvaluationKind, figures: dict[str, Any]) -> None:
    """Keep figures that were measured of a version; the same figures once.

    Raises:
        NotFound: the registry has no such version.
    """
    await get_version(database, version)
    await versions.add_evaluation(database, version, kind, figures)


async def get_version(database: Executor, version: UUID) -> ModelVersion:
    """Return a version.

    Raises:
        NotFound: the registry has no such version.
    """
    found = await versions.get(database, version)
    if found is None:
        raise NotFound(f"the registry has no version {version}; `rubrica registry list` shows those there are")
    return found


async def find_version(database: Executor, named: str) -> ModelVersion:
    """Return the version of this name (`writer-v3`, or with its digest), or of this id.

    Raises:
        InvalidInput: this is neither.
        NotFound: the registry has no such version.
    """
    if match := NUMBERED.fullmatch(named):
        role = next((role for role in ModelRole if role.value == match["role"]), None)
        found = await versions.find_numbered(database, role, int(match["number"])) if role else None
        if found is None or not (match["artifact"] is None or found.name == named):
            raise NotFound(f"the registry has no version {named}; `rubrica registry list` shows those there are")
        return found
    try:
        return await get_version(database, UUID(named))
    except ValueError:
        raise InvalidInput(f"{named!r} is no version; name one like writer-v3, or its id") from None


async def describe_version(database: Executor, version: UUID) -> VersionDetail:
    """Return a version with all that is known of it.

    Raises:
        NotFound: the registry has no such version.
    """
    return VersionDetail(
        version=await get_version(database, version),
        changes=tuple(await versions.list_states(database, version)),
        evaluations=tuple(await versions.list_evaluations(database, version)),
        canaries=tuple(await versions.list_canaries(database, version)),
        moves=tuple(await versions.list_moves(database, version)),
        lineage=tuple(await versions.list_lineage(database, version)),
        pairs=await version_pairs.count(database, version),
    )


async def _hold(connection: Executor, version: UUID) -> ModelVersion:
    """Return a version that nobody else moves meanwhile: read again once its role is held."""
    await versions.hold_role(connection, (await get_version(connection, version)).role)
    return await get_version(connection, version)


def _list_ways(state: VersionState) -> str:
    ways = sorted(LEGAL[state])
    return f" (but {' or '.join(ways)})" if ways else ": that is its last state"
