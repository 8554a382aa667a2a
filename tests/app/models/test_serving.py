"""Who serves which role: the settings at first, then whoever is given it; with a history, and never by a model that is gone."""

import asyncio
from collections.abc import AsyncIterator, Callable
from uuid import UUID, uuid4

import asyncpg
import pytest

from app.database.engine import connect
from app.domain.errors import Conflict, NotFound
from app.domain.model_versions import CanaryState, falls_to_canary
from app.domain.served_models import ModelRole, RoleModels, ServedModel
from app.models.service.serving import (
    SETTINGS,
    add_model,
    end_canary,
    list_models_of_settings,
    move_alias,
    register_settings,
    start_canary,
)
from app.models.storage import aliases, canaries, served
from app.models.storage.resolution import replace_gone, resolve_roles
from app.settings import read_settings

HERE = "http://127.0.0.1:9/v1"
ADD_VERSION = """
    INSERT INTO model_versions (id, role, number, configuration, sets, artifact, base, notation, on_erasure, state)
    VALUES ($1, 'writer', 1, '{}', '[]', 'a', 'b', 'schema', 'keep', 'canary')"""


@pytest.fixture
def own_url(new_postgres_url: Callable[[], str]) -> str:
    """A database of the test's own: aliases belong to the whole deployment."""
    return new_postgres_url()


@pytest.fixture
async def pool(own_url: str) -> AsyncIterator[asyncpg.Pool]:
    opened = await connect(own_url)
    yield opened
    await opened.close()


def read_models(name: str = "first", **more: str) -> list[ServedModel]:
    given = {"RUBRICA_LLM_BASE_URL": HERE, "RUBRICA_LLM_MODEL": name, "RUBRICA_LLM_API_KEY": "k"}
    return list_models_of_settings(read_settings(given | more))


async def give_role(pool: asyncpg.Pool, role: ModelRole, to: str, by: str = "ada@example.org") -> str | None:
    async with pool.acquire() as connection, connection.transaction():
        moved = await move_alias(connection, role, to, by, "better")
    return moved.came_from if moved else None


async def list_holders(pool: asyncpg.Pool) -> dict[str, str]:
    return {role.value: alias.served for role, alias in (await aliases.list_all(pool)).items()}


async def test_the_settings_begin_and_are_followed_only_in_roles_that_nobody_else_moved(pool: asyncpg.Pool) -> None:
    await register_settings(pool, read_models(RUBRICA_LLM_ALTERNATIVES="small=0.5/2", RUBRICA_LLM_CODEC="tags"))
    known = {kept.model.name: kept.model for kept in await served.list_all(pool)}
    assert list(known) == ["first", "small"]
    assert (known["small"].key_setting, known["small"].notation, known["small"].output_price) == (
        "RUBRICA_LLM_API_KEY",
        "tags",
        2,
    )
    assert await list_holders(pool) == dict.fromkeys(ModelRole, "first")

    assert await give_role(pool, ModelRole.WRITER, "small") == "first"
    await register_settings(pool, read_models())
    assert len(await aliases.list_moves(pool, None, 100)) == 6  # a start that changes nothing moves nothing
    await register_settings(pool, read_models("second"))
    assert await list_holders(pool) == {**dict.fromkeys(ModelRole, "second"), "writer": "small"}
    [move, *_] = await aliases.list_moves(pool, ModelRole.JUDGE, 9)
    assert (move.came_from, move.went_to, move.by) == ("first", "second", SETTINGS)
    # Also a role that a person gave back to the settings' model stays where the person put it.
    await give_role(pool, ModelRole.WRITER, "second")
    await register_settings(pool, read_models("third"))
    assert (await list_holders(pool))["writer"] == "second"


async def test_a_name_never_means_another_model(pool: asyncpg.Pool) -> None:
    trained = ServedModel(name="writer-v1-abc", address=HERE, adapter="abc")
    await add_model(pool, trained)
    await add_model(pool, trained)
    with pytest.raises(Conflict, match="a name of its own"):
        await add_model(pool, trained.model_copy(update={"adapter": "abd"}))
    kept = await served.get(pool, "writer-v1-abc")
    assert kept is not None
    assert kept.model == trained


async def test_a_role_goes_only_to_a_model_that_is_there(pool: asyncpg.Pool) -> None:
    await register_settings(pool, read_models())
    trained = ServedModel(name="writer-v1-abc", address=HERE)
    with pytest.raises(NotFound, match="no served model"):
        await give_role(pool, ModelRole.WRITER, trained.name)
    await add_model(pool, trained)
    assert await served.mark_gone(pool, trained.name)
    with pytest.raises(Conflict, match="is gone from its server"):
        await give_role(pool, ModelRole.WRITER, trained.name)
    await add_model(pool, trained)  # it is back
    assert await give_role(pool, ModelRole.WRITER, trained.name) == "first"
    assert await give_role(pool, ModelRole.WRITER, trained.name) is None
    assert len(await aliases.list_moves(pool, ModelRole.WRITER, 9)) == 2


async def test_moves_at_the_same_time_leave_an_unbroken_history(pool: asyncpg.Pool) -> None:
    await register_settings(pool, read_models())
    for n in range(8):
        await add_model(pool, ServedModel(name=f"writer-v{n}", address=HERE))
    await asyncio.gather(*(give_role(pool, ModelRole.WRITER, f"writer-v{n}") for n in range(8)))
    moves = list(reversed(await aliases.list_moves(pool, ModelRole.WRITER, 20)))
    assert [move.came_from for move in moves] == ["", *(move.went_to for move in moves[:-1])]
    assert (await list_holders(pool))["writer"] == moves[-1].went_to


async def test_roles_are_resolved_from_aliases_and_what_is_held_stays_while_it_is_there(pool: asyncpg.Pool) -> None:
    assert await resolve_roles(pool) == RoleModels()  # nothing serves: runs are as they were before there were aliases
    await register_settings(pool, read_models(RUBRICA_LLM_ALTERNATIVES="small"))
    await give_role(pool, ModelRole.JUDGE, "small")
    found = await resolve_roles(pool)
    assert found == RoleModels(judge="small")  # the others are the settings', whatever model they name when it is asked
    await give_role(pool, ModelRole.JUDGE, "first")
    assert await resolve_roles(pool, found) == found
    await served.mark_gone(pool, "small")
    assert await resolve_roles(pool, found) == found.model_copy(update={"judge": "first"})
    await give_role(pool, ModelRole.WRITER, "first")
    assert await replace_gone(pool, found) == found.model_copy(update={"judge": "first"})
    assert await replace_gone(pool, RoleModels()) == RoleModels()


async def test_a_canary_serves_the_same_share_of_organisations_until_it_ends(pool: asyncpg.Pool) -> None:
    await register_settings(pool, read_models())
    await add_model(pool, ServedModel(name="writer-v1-abc", address=HERE))
    version, canary = uuid4(), uuid4()
    await pool.execute(ADD_VERSION, version)
    started = await start_canary(pool, canary, version, "writer-v1-abc", 0.5)
    assert await start_canary(pool, canary, version, "writer-v1-abc", 0.5) == started
    with pytest.raises(Conflict, match="another canary"):
        await start_canary(pool, uuid4(), version, "writer-v1-abc", 0.1)
    assert await canaries.list_running(pool) == {ModelRole.WRITER: started}
    for house in (uuid4() for _ in range(20)):
        expected = "writer-v1-abc" if falls_to_canary(canary, house, 0.5) else ""
        assert (await resolve_roles(pool, organisation=house)).writer == expected
    drawn = next(house for house in iter(uuid4, None) if falls_to_canary(canary, house, 0.5))
    await served.mark_gone(pool, "writer-v1-abc")
    assert (await resolve_roles(pool, organisation=drawn)).writer == ""
    ended = await end_canary(pool, canary, CanaryState.ROLLED_BACK, "worse")
    assert (ended.state, ended.why, ended.ended_at is not None) == (CanaryState.ROLLED_BACK, "worse", True)
    assert await end_canary(pool, canary, CanaryState.PROMOTED, "") == ended
    assert await canaries.list_of_version(pool, version) == [ended]


def test_a_share_is_a_share_of_organisations_and_grows_by_further_ones() -> None:
    canary, houses = UUID(int=7), [UUID(int=n) for n in range(4_000)]
    tenth, half = ({house for house in houses if falls_to_canary(canary, house, share)} for share in (0.1, 0.5))
    assert tenth < half
    assert (0.08 < len(tenth) / 4_000 < 0.12, 0.47 < len(half) / 4_000 < 0.53) == (True, True)
    assert all(falls_to_canary(canary, house, 1.0) for house in houses)


def test_only_keys_can_be_named_as_keys() -> None:
    with pytest.raises(ValueError, match="key_setting"):
        ServedModel(name="m", address=HERE, key_setting="RUBRICA_WORKER_DATABASE_URL")
