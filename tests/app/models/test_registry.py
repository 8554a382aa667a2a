"""The registry: numbers without gaps, legal states only, one version that serves, and who changed what and why."""

import asyncio
from itertools import product
from uuid import uuid4

import asyncpg
import pytest

from app.domain.errors import Conflict, InvalidInput, NotFound
from app.domain.model_versions import EvaluationKind, ModelVersion, VersionState
from app.domain.served_models import ModelRole
from app.models.service import registry
from app.models.storage import versions
from tests.app.models.trained_models import add_version, make_trained

CANDIDATE, CANARY, SERVING = VersionState.CANDIDATE, VersionState.CANARY, VersionState.SERVING
REFUSED, RETIRED, WITHDRAWN = VersionState.REFUSED, VersionState.RETIRED, VersionState.WITHDRAWN
WAYS = {CANDIDATE: (), CANARY: (CANARY,), SERVING: (SERVING,), REFUSED: (REFUSED,), RETIRED: (SERVING, RETIRED)} | {
    WITHDRAWN: (WITHDRAWN,)
}
ALLOWED = {
    *product([CANDIDATE], [CANARY, SERVING, REFUSED, WITHDRAWN]),
    *product([CANARY], [SERVING, REFUSED, WITHDRAWN, CANDIDATE]),
    *product([SERVING], [RETIRED, WITHDRAWN]),
    *product([RETIRED], [SERVING, WITHDRAWN]),
}


async def change(pool: asyncpg.Pool, version: ModelVersion, state: VersionState, why: str = "because") -> ModelVersion:
    async with pool.acquire() as connection, connection.transaction():
        return await registry.change_state(connection, version.id, state, "ada@example.org", why)


@pytest.fixture(autouse=True)
async def empty_registry(pool: asyncpg.Pool) -> None:
    await pool.execute("TRUNCATE model_versions CASCADE")


async def test_versions_of_a_role_are_numbered_without_gaps_also_when_added_at_once(pool: asyncpg.Pool) -> None:
    made = await asyncio.gather(
        *(add_version(pool) for _ in range(8)), *(add_version(pool, ModelRole.SEARCHER) for _ in range(3))
    )
    assert sorted(each.number for each in made if each.role is ModelRole.WRITER) == list(range(1, 9))
    assert sorted(each.number for each in made if each.role is ModelRole.SEARCHER) == [1, 2, 3]
    assert {each.name for each in made if each.number == 2} == {"writer-v2-abababababab", "searcher-v2-abababababab"}


async def test_a_version_that_is_sent_twice_is_added_once(pool: asyncpg.Pool) -> None:
    wanted = uuid4()
    first, second = [await add_version(pool, id=wanted, pairs=("p1", "p2")) for _ in range(2)]
    assert first == second
    assert await registry.get_version(pool, wanted) == first
    told = make_trained()
    assert {name: getattr(first, name) for name in type(told).model_fields} == {
        name: getattr(told, name) for name in type(told).model_fields
    }
    detail = await registry.describe_version(pool, wanted)
    assert (len(detail.changes), detail.changes[0].by, detail.changes[0].why) == (1, "ada@example.org", "trained by hand")
    assert detail.pairs == 2


@pytest.mark.parametrize("begin", VersionState)
async def test_states_follow_each_other_as_they_may_and_in_no_other_way(pool: asyncpg.Pool, begin: VersionState) -> None:
    for wanted in VersionState:
        version = await add_version(pool)
        for step in WAYS[begin]:
            await change(pool, version, step)
        if (begin, wanted) in ALLOWED or begin is wanted:
            assert (await change(pool, version, wanted)).state is wanted
        else:
            with pytest.raises(Conflict, match=f"is {begin}; from there it cannot become {wanted}"):
                await change(pool, version, wanted)
        kept = await registry.describe_version(pool, version.id)
        assert kept.version.state is kept.changes[-1].state
        if kept.version.state is SERVING:
            await change(pool, version, WITHDRAWN)


async def test_one_version_serves_a_role_and_the_one_before_retires_with_it(pool: asyncpg.Pool) -> None:
    one, two, other = await add_version(pool), await add_version(pool), await add_version(pool, ModelRole.SEARCHER)
    for version in (one, other):
        await change(pool, version, SERVING)
    await change(pool, two, SERVING, "better by 3 points")
    assert [(await registry.get_version(pool, each.id)).state for each in (one, two, other)] == [RETIRED, SERVING, SERVING]
    [*_, last] = (await registry.describe_version(pool, one.id)).changes
    assert (last.state, last.why) == (RETIRED, f"{two.name} serves instead: better by 3 points")


async def test_of_two_promoted_at_once_one_serves(pool: asyncpg.Pool) -> None:
    made = [await add_version(pool) for _ in range(4)]
    await asyncio.gather(*(change(pool, each, SERVING) for each in made))
    states = [(await registry.get_version(pool, each.id)).state for each in made]
    assert sorted(states) == [RETIRED, RETIRED, RETIRED, SERVING]


async def test_a_change_that_fails_leaves_nothing(pool: asyncpg.Pool) -> None:
    one, two = await add_version(pool), await add_version(pool)
    await change(pool, one, SERVING)
    connection = await pool.acquire()
    transaction = connection.transaction()
    await transaction.start()
    await registry.change_state(connection, two.id, SERVING, "ada@example.org", "")
    await transaction.rollback()
    await pool.release(connection)
    assert [(await registry.get_version(pool, each.id)).state for each in (one, two)] == [SERVING, CANDIDATE]
    assert len((await registry.describe_version(pool, two.id)).changes) == 1


async def test_what_is_measured_is_kept_once(pool: asyncpg.Pool) -> None:
    version = await add_version(pool)
    for figures in ({"wins": 0.6, "n": 3}, {"n": 3, "wins": 0.6}, {"wins": 0.7, "n": 3}):
        await registry.note_evaluation(pool, version.id, EvaluationKind.GATE, figures)
    found = (await registry.describe_version(pool, version.id)).evaluations
    assert [each.figures for each in found] == [{"wins": 0.6, "n": 3}, {"wins": 0.7, "n": 3}]
    with pytest.raises(NotFound):
        await registry.note_evaluation(pool, uuid4(), EvaluationKind.GATE, {})


async def test_lineage_goes_up_and_down_and_not_to_siblings_of_ancestors(pool: asyncpg.Pool) -> None:
    base = await add_version(pool)
    left, right = await add_version(pool, parent=base.id), await add_version(pool, parent=base.id)
    child = await add_version(pool, ModelRole.SEARCHER, parent=left.id)
    assert [each.id for each in await versions.list_lineage(pool, left.id)] == [base.id, left.id, child.id]
    assert [each.id for each in await versions.list_lineage(pool, base.id)] == [base.id, left.id, right.id, child.id]
    with pytest.raises(NotFound, match="add the parent first"):
        await add_version(pool, parent=uuid4())


async def test_versions_are_found_by_name_and_listed_newest_first(pool: asyncpg.Pool) -> None:
    made = [await add_version(pool) for _ in range(3)]
    second = made[1]
    for named in ("writer-v2", second.name, str(second.id)):
        assert await registry.find_version(pool, named) == second
    for named in ("writer-v9", "writer-v2-000000000000", "painter-v1", str(uuid4())):
        with pytest.raises(NotFound):
            await registry.find_version(pool, named)
    with pytest.raises(InvalidInput):
        await registry.find_version(pool, "the best one")
    assert list(await versions.list_page(pool, 2, ModelRole.WRITER, None)) == [made[2], made[1]]
    assert list(await versions.list_page(pool, 2, None, made[1].id)) == [made[0]]
    assert list(await versions.list_page(pool, 2, ModelRole.JUDGE, None)) == []
