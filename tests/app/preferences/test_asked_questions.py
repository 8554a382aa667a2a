"""Questions for a benchmark: never of an organisation or a person that does not agree, or did not when asking."""

from uuid import UUID, uuid4

import asyncpg

from app.accounts.nouns.access import Role
from app.preferences.service.asked_questions import consented_questions
from app.preferences.service.pseudonyms import Pseudonyms
from tests.app.annotators import Person, add_person
from tests.app.served_api import ApiClient

NAMES = Pseudonyms(b"k" * 32)
AGREED = {"person": True, "organisation": True}


async def questions(pool: asyncpg.Pool) -> set[str]:
    return {found.question for found in (await consented_questions(pool, NAMES)).values()}


async def ask(person: Person, question: str) -> UUID:
    reply = await person.post("/v1/runs", {"question": question})
    assert reply.status < 300, reply.body
    return UUID(reply.json["id"])


async def test_only_what_its_asker_and_organisation_agree_to_now_and_did_before(pool: asyncpg.Pool, api: ApiClient) -> None:
    await pool.execute("DELETE FROM organisation_consents")
    home, elsewhere = uuid4(), uuid4()
    owner, member = await add_person(pool, api, Role.OWNER, home), await add_person(pool, api, Role.MEMBER, home)
    stranger = await add_person(pool, api, Role.OWNER, elsewhere)
    await ask(owner, "Asked before anybody agreed?")
    await owner.put("/v1/consent", AGREED)
    await stranger.put("/v1/consent", {"person": True})
    await ask(owner, "Why did duties rise?")
    await ask(owner, "why did  duties RISE?")
    await ask(member, "Asked by somebody who does not agree?")
    await ask(stranger, "Asked where the organisation does not agree?")
    own = await ask(owner, "What do our own documents say?")
    await pool.execute("UPDATE runs SET query = jsonb_set(query::jsonb, '{tenant}', '\"t\"')::json WHERE id = $1", own)
    again = await ask(owner, "Made for another run?")
    await pool.execute("UPDATE runs SET made_for = $1 WHERE id = $2", own, again)
    assert await questions(pool) == {"Why did duties rise?"}
    (name,) = await consented_questions(pool, NAMES)
    assert str(owner.id) not in name
    assert (await consented_questions(pool, Pseudonyms(b"o" * 32))).keys() != {name}
    await owner.put("/v1/consent", {"person": True, "organisation": False})
    assert await questions(pool) == set()
    await owner.put("/v1/consent", AGREED)
    assert await questions(pool) == set(), "consent that is given again does not reach back"


async def test_who_was_removed_has_no_consent_left_that_they_could_not_take_back(pool: asyncpg.Pool, api: ApiClient) -> None:
    await pool.execute("DELETE FROM organisation_consents")
    home = uuid4()
    owner, member = await add_person(pool, api, Role.OWNER, home), await add_person(pool, api, Role.MEMBER, home)
    for person, agreed in ((owner, AGREED), (member, {"person": True})):
        await person.put("/v1/consent", agreed)
    await ask(owner, "Asked by whoever stays?")
    await ask(member, "Asked by whoever goes?")
    assert await questions(pool) == {"Asked by whoever stays?", "Asked by whoever goes?"}
    assert (await owner.send("DELETE", f"/v1/members/{member.id}")).status == 204
    assert await questions(pool) == {"Asked by whoever stays?"}
