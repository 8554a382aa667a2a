"""Erasure: from judgements that may no longer be learned from to the versions that did, and what each version says of that.

A version learned from rows of exports (`version_pairs`). Those that a fresh export would not have are gone, or their people no
longer agree. Each is dealt with once: afterwards the version forgets the row, and its card keeps how many there were.
"""

import asyncio
from collections.abc import Sequence
from typing import Any

import asyncpg

from app.database.engine import Executor, translate_outages
from app.domain.errors import Conflict
from app.domain.model_versions import ErasurePolicy, EvaluationKind, ModelVersion
from app.domain.value import Value
from app.models.artifacts.ports import ArtifactStore
from app.models.service import promotion, registry
from app.models.storage import version_pairs, versions

BY = "erasure"


class ErasedRows(Value):
    """What was erased of a version: `rows` of the `learned` ones that it still knew, and what was done about it."""

    version: ModelVersion
    rows: int
    learned: int
    done: str


class Erasure(Value):
    """What one look at all versions did. Why a version could not be dealt with is in `left`: its role has no other model, or
    its pseudonyms were made with another key.
    """

    erased: tuple[ErasedRows, ...] = ()
    left: tuple[str, ...] = ()


async def carry_out_erasure(trusted: asyncpg.Pool, exportable: frozenset[str], key: str) -> Erasure:
    """Do what each version says for which rows are gone. `exportable` are the rows of a fresh export under the key `key`.

    Raises:
        Unavailable: the database does not answer. It can be done again.
    """
    erased, left = [], []
    for id_ in await version_pairs.list_learned(trusted):
        version = await registry.get_version(trusted, id_)
        if any(each.key not in ("", key) for each in version.sets):
            left.append(f"{version.name} learned from rows under another key than this one")
            continue
        try:
            async with translate_outages(), trusted.acquire() as connection, connection.transaction():
                found = await _deal_with(connection, version, sorted(exportable))
        except Conflict as error:
            left.append(f"{version.name} is to be withdrawn, and goes on serving until this is done again: {error}")
        else:
            erased += [found] if found else []
    return Erasure(erased=tuple(erased), left=tuple(left))


async def list_to_retrain(database: Executor) -> Sequence[ModelVersion]:
    """List the versions that a cycle is to train again: they serve, or may yet, with rows that were erased since."""
    return await versions.list_marked(database)


async def _deal_with(connection: Executor, version: ModelVersion, exportable: Sequence[str]) -> ErasedRows | None:
    missing = await version_pairs.list_missing(connection, version.id, exportable)
    if not missing:
        return None
    learned = await version_pairs.count(connection, version.id)
    why = f"{len(missing)} of the {learned} judgements that it learned from were erased or are no longer agreed to"
    done = await _follow_policy(connection, version, why)
    figures: dict[str, Any] = {"rows": len(missing), "learned": learned, "policy": version.on_erasure.value, "done": done}
    await versions.add_evaluation(connection, version.id, EvaluationKind.ERASURE, figures)
    await version_pairs.forget(connection, version.id, missing)
    return ErasedRows(version=version, rows=len(missing), learned=learned, done=done)


async def _follow_policy(connection: Executor, version: ModelVersion, why: str) -> str:
    if version.on_erasure is ErasurePolicy.KEEP or version.state in registry.ENDED:
        return "noted on its card"
    if version.on_erasure is ErasurePolicy.RETRAIN:
        return "marked for the next cycle"
    moves = await promotion.withdraw(connection, version.id, BY, why)
    return "withdrawn" + "".join(f"; the {move.role} is {move.went_to} again" for move in moves)


async def delete_erased_artifacts(database: Executor, artifacts: ArtifactStore) -> Sequence[str]:
    """Delete what withdrawn versions learned from erased rows, and return the digests. What an earlier call left is deleted too.

    Raises:
        SetupError, Unavailable: the store refuses, or does not answer. It can be done again.
    """
    found = await versions.list_forgettable_artifacts(database)
    kept = [artifact for artifact in found if await asyncio.to_thread(artifacts.has, artifact)]
    for artifact in kept:
        await asyncio.to_thread(artifacts.delete, artifact)
    return kept
