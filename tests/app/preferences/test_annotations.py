"""Annotation as experts meet it: pairs one after the other, blind, with overlap; and what their answers agree on."""

import asyncio
from uuid import UUID, uuid4

import asyncpg
import pytest

from app.accounts.nouns.access import Role
from app.domain.writer import ReportLineage
from tests.app.annotators import Person, add_person, make_choice, make_comparison, make_finished_run, make_report
from tests.app.served_api import ApiClient

DELIVERED, OTHER = "Duties protect labour at home.", "Duties raise what people pay."
WAY = ReportLineage(system="minddr", agents="brief", arrangement="worth")
OTHER_WAY = ReportLineage(system="minddr", agents="brief", arrangement="time")


class Place:
    """An organisation with a manager and pairs to judge."""

    def __init__(self, pool: asyncpg.Pool, api: ApiClient, manager: Person, organisation: UUID) -> None:
        self.pool, self.api, self.manager, self.organisation = pool, api, manager, organisation

    async def expert(self) -> Person:
        return await add_person(self.pool, self.api, Role.MEMBER, self.organisation)

    async def pair(self, number: int) -> str:
        run_id = await make_finished_run(self.pool, make_report(f"{DELIVERED} {number}"), WAY)
        await self.pool.execute(
            "UPDATE runs SET organisation_id = $2, created_by = $3 WHERE id = $1", run_id, self.organisation, self.manager.id
        )
        return await make_comparison(self.pool, self.manager, run_id, f"{OTHER} {number}", OTHER_WAY)

    async def add(self, *pairs: str, overlap: int = 2, **also: object) -> None:
        added = await self.manager.post("/v1/annotations", {"comparison_ids": list(pairs), "overlap": overlap, **also})
        assert added.status == 204, added.body


@pytest.fixture
async def place(pool: asyncpg.Pool, api: ApiClient) -> Place:
    organisation = uuid4()
    return Place(pool, api, await add_person(pool, api, Role.ADMIN, organisation), organisation)


async def judge(expert: Person, wanted: str) -> str:
    """Judge the next pair for the report that says `wanted`, or `tie`; what the pair was about."""
    given = (await expert.get("/v1/annotations/next")).json["assignment"]
    side = "left" if wanted in given["left"]["markdown"] else "right"
    verdict = wanted if wanted == "tie" else side
    said = make_choice(verdict, reasons=[{"dimension": "usefulness", "side": None if verdict == "tie" else side}])
    answered = await expert.post(f"/v1/annotations/{given['id']}", said)
    assert answered.status == 200, answered.body
    return str(given["left"]["markdown"])


async def test_every_pair_is_judged_by_as_many_as_asked_and_by_nobody_twice(place: Place) -> None:
    pairs = [await place.pair(n) for n in range(2)]
    await place.add(*pairs, overlap=2)
    experts = [await place.expert() for _ in range(3)]
    ann, bob, eve = experts
    first = (await ann.get("/v1/annotations/next")).json["assignment"]
    assert (await ann.get("/v1/annotations/next")).json["assignment"] == first
    assert "run_id" not in first
    judged = {await judge(ann, DELIVERED), await judge(ann, DELIVERED)}
    assert len(judged) == 2
    assert (await ann.get("/v1/annotations/next")).json["assignment"] is None
    await judge(bob, DELIVERED)
    # One place is left on the pair that Bob has not judged; Eve takes it, and Bob finds nothing while she has it.
    theirs = (await eve.get("/v1/annotations/next")).json["assignment"]
    assert (await bob.get("/v1/annotations/next")).json["assignment"] is None
    assert (await eve.post(f"/v1/annotations/{theirs['id']}/skip", {"reason": " "})).is_problem(400)
    assert (await eve.post(f"/v1/annotations/{theirs['id']}/skip", {"reason": "not my field"})).status == 204
    assert (await eve.get("/v1/annotations/next")).json["assignment"] is None
    await judge(bob, OTHER)
    done = (await place.manager.get("/v1/annotations")).json["items"]
    assert [(task["answered"], task["being_judged"]) for task in done] == [(2, 0), (2, 0)]
    assert sum(task["skipped"] for task in done) == 1
    # The manager asked the questions, so there is nothing here for the manager to judge.
    assert (await place.manager.get("/v1/annotations/next")).json["assignment"] is None


async def test_an_answer_stands_and_nobody_is_told_more(place: Place) -> None:
    pair = await place.pair(0)
    await place.add(pair)
    ann, bob = await place.expert(), await place.expert()
    given = (await ann.get("/v1/annotations/next")).json["assignment"]
    path = f"/v1/annotations/{given['id']}"
    assert (await bob.post(path, make_choice("left"))).is_problem(404)
    assert (await ann.post(f"/v1/comparisons/{pair}/choice", make_choice("left"))).is_problem(409)
    answered = await ann.post(path, make_choice("left"))
    assert set(answered.json) == {"id", "seconds"}
    for again in (await ann.post(path, make_choice("right")), await ann.post(f"{path}/skip", {"reason": "changed my mind"})):
        assert again.is_problem(409)
    assert (await ann.post(f"/v1/comparisons/{pair}/reveal")).is_problem(409)
    for forbidden in ("/v1/annotations", "/v1/annotations/agreement"):
        assert (await ann.get(forbidden)).is_problem(403)
    assert (await ann.post("/v1/annotations", {"comparison_ids": [pair]})).is_problem(403)
    assert (await place.manager.post("/v1/annotations", {"comparison_ids": [str(uuid4())]})).is_problem(404)
    stranger = await add_person(place.pool, place.api, Role.OWNER, uuid4())
    assert (await stranger.post("/v1/annotations", {"comparison_ids": [pair]})).is_problem(404)
    assert (await stranger.get("/v1/annotations/next")).json["assignment"] is None


async def test_two_who_ask_at_once_do_not_both_get_the_last_place(place: Place) -> None:
    await place.add(await place.pair(0), overlap=1)
    experts = [await place.expert() for _ in range(4)]
    given = await asyncio.gather(*(expert.get("/v1/annotations/next") for expert in experts))
    assert sorted(reply.json["assignment"] is None for reply in given) == [False, True, True, True]


async def test_a_pair_that_was_left_lying_goes_to_somebody_else(place: Place) -> None:
    await place.add(await place.pair(0), overlap=1)
    ann, bob = await place.expert(), await place.expert()
    given = (await ann.get("/v1/annotations/next")).json["assignment"]
    assert (await bob.get("/v1/annotations/next")).json["assignment"] is None
    await place.pool.execute("UPDATE assignments SET expires_at = now() - interval '1 second' WHERE id = $1", UUID(given["id"]))
    assert (await ann.post(f"/v1/annotations/{given['id']}", make_choice("left"))).is_problem(409)
    await judge(bob, OTHER)


async def test_the_queue_goes_to_pairs_without_votes_then_to_those_in_dispute(place: Place) -> None:
    settled, disputed, fresh = [await place.pair(n) for n in range(3)]
    readers = [await place.expert() for _ in range(4)]
    for pair, wishes in ((settled, [OTHER] * 4), (disputed, [OTHER, DELIVERED] * 2)):
        for reader, wanted in zip(readers, wishes, strict=True):
            shown = (await reader.get(f"/v1/comparisons/{pair}")).json
            side = "left" if wanted in shown["left"]["markdown"] else "right"
            assert (await reader.post(f"/v1/comparisons/{pair}/choice", make_choice(side))).status == 201
    await place.add(settled, disputed, fresh, overlap=5)
    expert = await place.expert()
    for _ in range(3):
        await judge(expert, OTHER)
    order = await place.pool.fetch("SELECT comparison_id FROM assignments WHERE user_id = $1 ORDER BY assigned_at", expert.id)
    assert [str(row["comparison_id"]) for row in order] == [fresh, disputed, settled]


async def test_a_control_pair_is_no_vote_between_ways_of_writing(place: Place) -> None:
    pairs = [await place.pair(n) for n in range(2)]
    await place.add(pairs[0], overlap=1)
    await place.add(pairs[1], gold="delivered")
    expert = await place.expert()
    for _ in pairs:
        await judge(expert, DELIVERED)
    (contest,) = (await place.manager.get("/v1/preferences/summary")).json["contests"]
    assert (contest["wins"] + contest["losses"], contest["readers"]) == (1, 1)


async def test_agreement_and_attention_are_told_to_those_who_manage(place: Place) -> None:
    pairs = [await place.pair(n) for n in range(4)]
    await place.add(*pairs[:3], overlap=2)
    ann, bob = await place.expert(), await place.expert()
    nobody = (await place.manager.get("/v1/annotations/agreement")).json
    assert nobody["overall"] == {"pairs": 0, "observed": None, "kappa": None}
    wishes = {}
    for expert, wanted in ((ann, (DELIVERED, DELIVERED, OTHER)), (bob, (DELIVERED, OTHER, OTHER))):
        # By what the pair is about, since the queue may serve them in another order to each.
        for _ in range(3):
            given = (await expert.get("/v1/annotations/next")).json["assignment"]
            number = int(given["left"]["markdown"].split("[1]")[0].split()[-1])
            wishes.setdefault(number, []).append(wanted[number])
            side = "left" if wanted[number] in given["left"]["markdown"] else "right"
            said = make_choice(side, reasons=[{"dimension": "coherence", "side": side}])
            assert (await expert.post(f"/v1/annotations/{given['id']}", said)).status == 200
    await place.add(pairs[3], gold="alternative")
    await judge(ann, OTHER)
    await judge(bob, DELIVERED)
    found = (await place.manager.get("/v1/annotations/agreement")).json
    # Two of three pairs alike. Fleiss: chance (1/2)^2 + (1/2)^2; (2/3 - 1/2) / (1/2) = 1/3. Cohen: 2/3 1/3 + 1/3 2/3 = 4/9: 2/5.
    assert found["overall"] == pytest.approx({"pairs": 3, "observed": 2 / 3, "kappa": 1 / 3})
    assert found["dimensions"]["coherence"] == pytest.approx({"pairs": 3, "observed": 2 / 3, "kappa": 1 / 3})
    assert found["dimensions"]["alignment"]["kappa"] is None
    [both] = found["annotators"]
    assert set(both["annotators"]) == {str(ann.id), str(bob.id)}
    assert both["kappa"] == pytest.approx(2 / 5)
    assert {row["annotator"]: (row["right"], row["given"]) for row in found["gold"]} == {str(ann.id): (1, 1), str(bob.id): (0, 1)}
