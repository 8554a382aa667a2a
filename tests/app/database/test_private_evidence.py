"""What PostgreSQL itself shows of a run on a private collection: its evidence only to those who may use the collection now."""

import re
from collections.abc import AsyncIterator

import asyncpg
import pytest

from app.database.tenancy import Tenant, TenantDatabase, act_for
from app.http.services import Services
from bench.private_house import MAY_READ, PrivateHouse, seed_private_house
from bench.private_run import HIDDEN, NOTICE, ON_THE_WEB

WORD = re.compile(r"zeugma\d\dq")
# `bytea` is shown as text, so that words in it are found.
ROWS = {
    "snapshots": "convert_from(body, 'UTF8')",
    "turns": "convert_from(body, 'UTF8')",
    "tool_calls": "convert_from(result, 'UTF8')",
    "stages": "convert_from(result, 'UTF8')",
    "report_tasks": "answer::text",
    "candidates": "markdown || shown::text",
}


@pytest.fixture
async def house(services: Services, pool: asyncpg.Pool) -> PrivateHouse:
    return await seed_private_house(services, pool)


@pytest.fixture
async def tenants(api_urls: tuple[str, str]) -> AsyncIterator[TenantDatabase]:
    async with asyncpg.create_pool(api_urls[0], min_size=1, max_size=1) as opened:
        yield TenantDatabase(opened)


async def find_words(tenants: TenantDatabase, who: Tenant, table: str) -> set[str]:
    with act_for(who):
        rows = await tenants.fetch(f"SELECT {ROWS[table]} AS text FROM {table}")
    return {word for row in rows for word in WORD.findall(row["text"] or "")}


@pytest.mark.parametrize("table", ROWS)
async def test_only_who_may_use_the_collection_now_sees_words_of_it(
    house: PrivateHouse, tenants: TenantDatabase, table: str
) -> None:
    for name, person in house.people.items():
        seen = (await find_words(tenants, person.tenant, table)) & {*HIDDEN}
        assert bool(seen) == (name in MAY_READ), (name, table, seen)


async def test_a_second_report_is_nobodys_until_it_is_chosen(house: PrivateHouse, tenants: TenantDatabase) -> None:
    for name, person in house.people.items():
        with act_for(person.tenant):
            found = await tenants.fetch("SELECT markdown FROM reports WHERE run_id = $1", house.made_run)
        assert len(found) == (name in MAY_READ), name


async def test_what_is_open_elsewhere_is_read_there(house: PrivateHouse, tenants: TenantDatabase) -> None:
    """Pages of the web that the run read are nobody's secret; nor is a private text that another run read on the web."""
    for name, person in house.people.items():
        with act_for(person.tenant):
            hashes = {row["hash"] for row in await tenants.fetch("SELECT hash FROM snapshots")}
        assert ({ON_THE_WEB.snapshot, NOTICE.snapshot} <= hashes) == (name != "other organisation"), name


async def test_the_same_text_in_another_collection_is_read_by_who_may_use_that(
    house: PrivateHouse, tenants: TenantDatabase, pool: asyncpg.Pool
) -> None:
    colleague, maker = house.people["colleague"].tenant, house.people["maker"].tenant
    assert await find_words(tenants, colleague, "snapshots") == set()
    add = (
        "INSERT INTO collections (id, organisation_id, name, everyone) VALUES (gen_random_uuid(), $1, 'Shelf', true) RETURNING id"
    )
    shelf = await pool.fetchval(add, maker.organisation)
    await pool.execute(
        "INSERT INTO collection_documents (id, organisation_id, collection_id, name, bytes, state, snapshot)"
        " SELECT gen_random_uuid(), organisation_id, $1, name, bytes, state, snapshot FROM collection_documents"
        " WHERE collection_id = $2",
        shelf,
        house.collection,
    )
    assert set(HIDDEN) <= await find_words(tenants, colleague, "snapshots")
    assert await find_words(tenants, colleague, "turns") == set()


async def test_a_run_over_the_evidence_of_another_is_kept_from_the_same_people(
    house: PrivateHouse, tenants: TenantDatabase
) -> None:
    for name in ("maker", "colleague"):
        with act_for(house.people[name].tenant):
            assert await tenants.fetchval("SELECT may_read_evidence($1)", house.made_run) is (name == "maker")
            assert await tenants.fetchval("SELECT may_read_evidence($1)", house.twin_run) is True
