"""Promote, hold, back and withdraw: states, canaries and aliases change together, or not at all."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import asyncpg
import pytest

from app.domain.errors import Conflict, NotFound
from app.domain.model_versions import Canary, CanaryState, ModelVersion, VersionState, falls_to_canary
from app.domain.served_models import ModelRole, ServedModel
from app.models.service import promotion, registry, serving
from app.models.storage import aliases, canaries, role_holds, served
from app.models.storage.resolution import resolve_roles
from tests.app.models.trained_models import add_version

ADA, WRITER, SEARCHER = "ada@example.org", ModelRole.WRITER, ModelRole.SEARCHER
SETTINGS_MODEL = ServedModel(name="base-model", address="http://127.0.0.1:9/v1")


@pytest.fixture(autouse=True)
async def settings_model(pool: asyncpg.Pool) -> None:
    await pool.execute("TRUNCATE model_versions, served_models, model_aliases, alias_moves, canaries, role_holds CASCADE")
    await serving.register_settings(pool, [SETTINGS_MODEL])


async def act(pool: asyncpg.Pool, does: Callable[..., Awaitable[Any]], *told: object, by: str = ADA, why: str = "why") -> Any:
    async with pool.acquire() as connection, connection.transaction():
        return await does(connection, *told, by, why)


async def add_served(pool: asyncpg.Pool, **options: Any) -> ModelVersion:
    """A version of the writer with a served model of its name."""
    version = await add_version(pool, **options)
    await serving.add_model(pool, ServedModel(name=version.name, address="http://127.0.0.1:9/v1", version=version.id))
    return version


async def promoted(pool: asyncpg.Pool, **options: Any) -> ModelVersion:
    version = await add_served(pool, **options)
    await act(pool, promotion.promote, version.id, version.name)
    return version


async def holder(pool: asyncpg.Pool) -> str:
    return (await aliases.list_all(pool))[WRITER].served


async def state(pool: asyncpg.Pool, version: ModelVersion) -> VersionState:
    return (await registry.get_version(pool, version.id)).state


async def canary_state(pool: asyncpg.Pool, canary: Canary) -> CanaryState:
    found = await canaries.get(pool, canary.id)
    assert found is not None
    return found.state


async def start_canary(pool: asyncpg.Pool, version: ModelVersion) -> Canary:
    await act(pool, registry.change_state, version.id, VersionState.CANARY, by="cycle")
    return await serving.start_canary(pool, uuid4(), version.id, version.name, 0.1)


async def test_a_promoted_version_has_its_role_and_the_former_one_retires(pool: asyncpg.Pool) -> None:
    one, two = await promoted(pool), await promoted(pool)
    assert (await holder(pool), await state(pool, one), await state(pool, two)) == (two.name, "retired", "serving")
    assert (await aliases.list_all(pool))[ModelRole.SEARCHER].served == SETTINGS_MODEL.name
    told = [(move.came_from, move.went_to, move.by, move.why) for move in await aliases.list_moves(pool, WRITER, 9)]
    assert told[:2] == [(one.name, two.name, ADA, "why"), (SETTINGS_MODEL.name, one.name, ADA, "why")]
    assert [move.went_to for move in (await registry.describe_version(pool, one.id)).moves] == [one.name, two.name]


async def test_what_may_not_serve_changes_nothing(pool: asyncpg.Pool) -> None:
    serves, refused, other = await promoted(pool), await add_served(pool), await add_served(pool)
    await act(pool, registry.change_state, refused.id, VersionState.REFUSED)
    for version, name, error in (
        (refused, refused.name, Conflict),
        (other, serves.name, Conflict),
        (other, SETTINGS_MODEL.name, Conflict),
        (other, "nobody", NotFound),
    ):
        with pytest.raises(error):
            await act(pool, promotion.promote, version.id, name)
    await pool.execute("UPDATE served_models SET gone_at = now() WHERE name = $1", other.name)
    with pytest.raises(Conflict, match="gone"):
        await act(pool, promotion.promote, other.id, other.name)
    assert (await holder(pool), await state(pool, serves), await state(pool, other)) == (serves.name, "serving", "candidate")


async def test_going_back_twice_goes_back_two_models_and_past_what_may_not_serve(pool: asyncpg.Pool) -> None:
    one, two, three = [await promoted(pool) for _ in range(3)]
    assert [move.went_to for move in await act(pool, promotion.go_back, WRITER)] == [two.name]
    assert (await state(pool, two), await state(pool, three)) == ("serving", "retired")
    assert [move.went_to for move in await act(pool, promotion.go_back, WRITER)] == [one.name]
    await act(pool, promotion.promote, three.id, three.name)
    await act(pool, promotion.withdraw, one.id)
    assert [move.went_to for move in await act(pool, promotion.go_back, WRITER)] == [SETTINGS_MODEL.name]
    assert [await state(pool, each) for each in (one, two, three)] == ["withdrawn", "retired", "retired"]
    with pytest.raises(Conflict, match="the writer has base-model, and no former model"):
        await act(pool, promotion.go_back, WRITER)
    assert await holder(pool) == SETTINGS_MODEL.name


async def test_a_held_role_is_moved_by_people_alone_and_its_canary_stops(pool: asyncpg.Pool) -> None:
    serves, tried, later = await promoted(pool), await add_served(pool), await add_served(pool)
    canary = await start_canary(pool, tried)
    await act(pool, promotion.hold, WRITER, why="a fair")
    assert await canary_state(pool, canary) is CanaryState.STOPPED
    assert (await state(pool, tried), await role_holds.get(pool, WRITER) is not None) == ("candidate", True)
    for mover in ("cycle", "canary"):
        with pytest.raises(Conflict, match=r"held by ada@example.org \(a fair\)"):
            await act(pool, promotion.promote, tried.id, tried.name, by=mover)
        with pytest.raises(Conflict, match="held by"):
            await act(pool, promotion.go_back, WRITER, by=mover)
    assert await holder(pool) == serves.name
    await act(pool, promotion.promote, later.id, later.name)
    async with pool.acquire() as connection, connection.transaction():
        await promotion.release(connection, WRITER)
    await act(pool, promotion.promote, tried.id, tried.name, by="cycle")
    assert (await holder(pool), await role_holds.list_all(pool)) == (tried.name, {})
    with pytest.raises(Conflict, match="nobody holds"):
        await promotion.release(pool, WRITER)


async def test_a_canary_ends_with_the_promotion_of_its_version_or_of_another(pool: asyncpg.Pool) -> None:
    tried, other = await add_served(pool), await add_served(pool)
    first = await start_canary(pool, tried)
    await act(pool, promotion.promote, tried.id, tried.name, by="canary")
    assert await canary_state(pool, first) is CanaryState.PROMOTED
    second = await start_canary(pool, other)
    again = await promoted(pool)
    assert await canary_state(pool, second) is CanaryState.STOPPED
    assert (await holder(pool), await state(pool, other)) == (again.name, "candidate")


async def test_a_withdrawn_version_gives_its_roles_back_and_never_serves_again(pool: asyncpg.Pool) -> None:
    one, two = await promoted(pool), await promoted(pool)
    [move] = await act(pool, promotion.withdraw, two.id)
    assert (move.came_from, move.went_to, await holder(pool)) == (two.name, one.name, one.name)
    assert [await state(pool, each) for each in (one, two)] == ["serving", "withdrawn"]
    gone = {known.model.name: known.gone_at is not None for known in await served.list_all(pool)}
    assert (gone[one.name], gone[two.name]) == (False, True), "runs that have it pause, and offer the present holder"
    with pytest.raises(Conflict, match="never serves again"):
        await serving.add_model(pool, ServedModel(name=two.name, address=SETTINGS_MODEL.address, version=two.id))
    with pytest.raises(Conflict, match="that is its last state"):
        await act(pool, promotion.promote, two.id, two.name)
    tried = await add_served(pool)
    canary = await start_canary(pool, tried)
    assert await act(pool, promotion.withdraw, tried.id) == []
    assert await canary_state(pool, canary) is CanaryState.STOPPED
    await pool.execute("UPDATE served_models SET gone_at = now() WHERE name = $1", SETTINGS_MODEL.name)
    with pytest.raises(Conflict, match="promote another version"):
        await act(pool, promotion.withdraw, one.id)
    assert (await state(pool, one), await holder(pool)) == ("serving", one.name)


async def test_a_version_without_a_former_model_is_withdrawn_once_another_serves(pool: asyncpg.Pool) -> None:
    await pool.execute("TRUNCATE served_models, model_aliases, alias_moves CASCADE")
    only, running = await promoted(pool), await add_served(pool)
    canary = await start_canary(pool, running)
    with pytest.raises(Conflict, match=f"the writer has {only.name}, and no former model that may still serve"):
        await act(pool, promotion.withdraw, only.id)
    assert (await state(pool, only), await holder(pool)) == ("serving", only.name)
    assert (await served.get(pool, only.name)).gone_at is None, "what is refused leaves nothing behind"  # type: ignore[union-attr]
    assert await canary_state(pool, canary) is CanaryState.RUNNING
    other = await promoted(pool)
    assert await act(pool, promotion.withdraw, only.id) == []
    assert (await state(pool, only), await holder(pool)) == ("withdrawn", other.name)


async def test_a_persons_move_stands_above_a_cycle_that_was_under_way_and_above_the_settings(pool: asyncpg.Pool) -> None:
    began, tried = datetime.now(UTC), await add_served(pool)
    await promotion.require_unmoved(pool, [WRITER], began, tried.name)
    await promoted(pool)
    await act(pool, promotion.go_back, WRITER, why="citations got worse")
    with pytest.raises(Conflict, match=r"ada@example.org gave the writer to base-model \(citations got worse\) while this cycle"):
        await promotion.require_unmoved(pool, [WRITER], began, tried.name)
    await promotion.require_unmoved(pool, [WRITER], datetime.now(UTC), tried.name)
    await serving.register_settings(pool, [SETTINGS_MODEL.model_copy(update={"name": "another-model"})])
    moved = await aliases.list_all(pool)
    assert (moved[WRITER].served, moved[ModelRole.SEARCHER].served) == (SETTINGS_MODEL.name, "another-model")
    await act(pool, promotion.promote, tried.id, tried.name)
    await promotion.require_unmoved(pool, [WRITER], began, tried.name)


async def holders(pool: asyncpg.Pool) -> dict[str, str]:
    return {role: alias.served for role, alias in (await aliases.list_all(pool)).items()}


async def test_a_version_for_several_roles_gets_and_leaves_them_together(pool: asyncpg.Pool) -> None:
    searcher = await promoted(pool, role=SEARCHER)
    both = await promoted(pool, also=(SEARCHER,))
    had = dict.fromkeys(ModelRole, SETTINGS_MODEL.name) | {SEARCHER: searcher.name}
    assert await holders(pool) == had | {WRITER: both.name, SEARCHER: both.name}
    assert (await state(pool, searcher), await state(pool, both)) == ("retired", "serving")
    told = await act(pool, promotion.go_back, SEARCHER)
    assert [(move.role, move.went_to) for move in told] == [(SEARCHER, searcher.name), (WRITER, SETTINGS_MODEL.name)]
    assert await holders(pool) == had
    assert (await state(pool, searcher), await state(pool, both)) == ("serving", "retired")


async def test_what_another_model_got_since_stays_with_it_when_the_others_go_back(pool: asyncpg.Pool) -> None:
    both = await promoted(pool, also=(SEARCHER,))
    later = await promoted(pool, role=SEARCHER)
    assert [move.role for move in await act(pool, promotion.go_back, WRITER)] == [WRITER]
    assert (await holders(pool))[SEARCHER] == later.name
    await act(pool, promotion.go_back, SEARCHER)  # to `both`, which has lost the role that it is numbered in
    assert (await holders(pool))[SEARCHER] == both.name
    assert (await holder(pool), await state(pool, both), await state(pool, later)) == (SETTINGS_MODEL.name, "retired", "retired")


async def test_one_role_that_is_held_or_moved_keeps_a_version_from_all_of_its_roles(pool: asyncpg.Pool) -> None:
    began, both = datetime.now(UTC), await add_served(pool, also=(SEARCHER,))
    had = await holders(pool)
    await act(pool, promotion.hold, SEARCHER, why="a fair")
    with pytest.raises(Conflict, match=r"the searcher is held by ada@example.org \(a fair\)"):
        await act(pool, promotion.promote, both.id, both.name, by="cycle")
    async with pool.acquire() as connection, connection.transaction():
        await promotion.release(connection, SEARCHER)
    other = await promoted(pool, role=SEARCHER)
    with pytest.raises(Conflict, match=f"gave the searcher to {other.name}"):
        await promotion.require_unmoved(pool, both.roles, began, both.name)
    assert await holders(pool) == had | {SEARCHER: other.name}
    await act(pool, promotion.promote, both.id, both.name)  # a person's word is all it takes
    assert (await holders(pool))[SEARCHER] == (await holders(pool))[WRITER] == both.name


async def test_a_canary_for_several_roles_serves_them_to_the_same_organisations(pool: asyncpg.Pool) -> None:
    both, other = await add_served(pool, also=(SEARCHER,)), await add_served(pool, role=SEARCHER)
    canary = await start_canary(pool, both)
    with pytest.raises(Conflict, match="another canary"):
        await start_canary(pool, other)
    for house in (uuid4() for _ in range(40)):
        found = await resolve_roles(pool, organisation=house)
        assert found.writer == found.searcher == (both.name if falls_to_canary(canary.id, house, 0.1) else "")
    await act(pool, registry.change_state, other.id, VersionState.CANDIDATE, by="cycle")
    await act(pool, promotion.hold, SEARCHER)
    assert (await canary_state(pool, canary), await state(pool, both)) == ("stopped", "candidate")
    assert (await resolve_roles(pool, organisation=uuid4())).writer == ""
