"""Comparing blind, as readers meet it: two reports over the same evidence, one choice each, then which was which."""

from uuid import UUID, uuid4

import asyncpg
import orjson
import pytest

from app.accounts.nouns.access import Role
from app.collections.storage import indexing as collection_tending
from app.collections.storage import redaction
from app.domain.run import RunStatus, WaitReason
from app.domain.writer import ReportLineage
from app.retention.service.retention import delete_past
from app.runs.storage.run_log import RunLog
from tests.app.annotators import (
    PLAN,
    QUOTES,
    Person,
    add_person,
    find_made_run,
    finish_run,
    make_choice,
    make_comparison,
    make_finished_run,
    make_report,
)
from tests.app.served_api import ApiClient, InMemoryRuns
from tests.support.patience import PATIENCE_S

BY_MODEL = ReportLineage(
    system="minddr",
    agents="model",
    model="secret-model",
    temperature=0.3141592,
    prompts={"section/v4/en": "ab" * 32},
    build="nineteenth-build",
)
BY_QUOTING = ReportLineage(system="minddr", agents="brief", arrangement="time", build="twentieth-build")
BY_TIME = {"agents": "brief", "arrangement": "time"}
DELIVERED, ALTERNATIVE = "Duties protect labour at home.", "Duties raise what people pay."


@pytest.fixture
async def run_id(pool: asyncpg.Pool) -> UUID:
    return await make_finished_run(pool, make_report(DELIVERED, ("written by secret-model",)), BY_MODEL)


@pytest.fixture
async def owner(pool: asyncpg.Pool, api: ApiClient) -> Person:
    return await add_person(pool, api, Role.OWNER)


async def test_the_second_report_starts_from_the_same_evidence_in_a_run_that_no_list_shows(
    pool: asyncpg.Pool, workflows: InMemoryRuns, run_id: UUID, owner: Person
) -> None:
    made = await owner.post("/v1/comparisons", {"run_id": str(run_id), "writer": BY_TIME})
    assert (made.status, made.json["status"], made.json["left"]) == (201, "preparing", None)
    second = await find_made_run(pool, made.json["id"])
    [started] = workflows.started
    assert (started.run_id, started.plan, started.query.writer.arrangement) == (second, PLAN, "time")
    stages = "SELECT stage, result FROM stages WHERE run_id = $1 AND stage LIKE 'search/%' ORDER BY stage"
    before, after = await pool.fetch(stages, run_id), await pool.fetch(stages, second)
    assert [tuple(row) for row in after[:2]] == [tuple(row) for row in before]
    # The search that left nothing is not made again: then the evidence would differ.
    assert orjson.loads(after[2]["result"]) == {"subtask_id": "s3", "stop": "failed", "detail": "its search failed"}
    listed = (await owner.get("/v1/runs")).json["items"]
    assert str(second) not in {run["id"] for run in listed}
    assert str(run_id) in {run["id"] for run in listed}
    word = next(run for run in listed if run["id"] == str(run_id))["query"]["question"].split()[0]
    found = {run["id"] for run in (await owner.get(f"/v1/runs?q={word}")).json["items"]}
    assert str(run_id) in found
    assert str(second) not in found, "it would tell which of the two is the second"
    assert (await owner.get(f"/v1/runs/{second}/side-by-side")).is_problem(404)


async def test_a_second_report_counts_as_a_run(run_id: UUID, pool: asyncpg.Pool, owner: Person) -> None:
    assert (await owner.put("/v1/quotas", {"concurrent_runs": 0})).status == 200
    refused = await owner.post("/v1/comparisons", {"run_id": str(run_id), "writer": BY_TIME})
    assert refused.is_problem(429)
    assert "0 runs" in refused.json["detail"]
    await owner.put("/v1/quotas", {})
    assert (await owner.get(f"/v1/comparisons?run_id={run_id}")).json["items"] == []


async def test_a_reader_compares_blind_then_chooses_then_learns_which_was_which(
    pool: asyncpg.Pool, run_id: UUID, owner: Person, api: ApiClient
) -> None:
    reader = await add_person(pool, api)
    path = f"/v1/comparisons/{await make_comparison(pool, owner, run_id, ALTERNATIVE, BY_QUOTING)}"
    assert (await reader.post(f"{path}/choice", make_choice("left"))).is_problem(409)
    assert (await reader.post(f"{path}/reveal")).is_problem(409)
    shown = (await reader.get(path)).json
    assert shown["status"] == "ready"
    assert {shown[side]["markdown"].count(words) for side in ("left", "right") for words in (DELIVERED, ALTERNATIVE)} == {0, 1}
    assert shown["left"]["citations"][0]["quote"] == QUOTES[0].text
    assert (await reader.post(f"{path}/reveal")).is_problem(409)

    await pool.execute("UPDATE viewings SET first_viewed_at = first_viewed_at - interval '1 hour'")
    said = make_choice("left", 3, hidden_seconds=1_800, reasons=[{"dimension": "coherence", "side": "right"}], comment="clearer")
    chosen = (await reader.post(f"{path}/choice", said)).json
    assert chosen["seconds"] == pytest.approx(1_800, abs=PATIENCE_S)
    assert chosen["changeable_until"] > chosen["made_at"]
    changed = (await reader.post(f"{path}/choice", make_choice("tie", hidden_seconds=3_000))).json
    assert (changed["verdict"], changed["changes"], changed["seconds"]) == ("tie", 1, chosen["seconds"])
    assert (await reader.post(f"{path}/choice", said)).json["changes"] == 2

    revealed = (await reader.post(f"{path}/reveal")).json
    left_is_delivered = DELIVERED in shown["left"]["markdown"]
    assert (revealed["left"]["delivered"], revealed["right"]["delivered"]) == (left_is_delivered, not left_is_delivered)
    assert revealed["left" if left_is_delivered else "right"]["lineage"]["model"] == "secret-model"
    assert revealed["choice"]["changeable_until"] is None
    assert (await reader.post(f"{path}/choice", make_choice("right"))).is_problem(409)
    assert (await reader.get(path)).json["revealed"] is True
    assert (await reader.get("/v1/comparisons")).json["items"][0]["chosen"] is True


async def test_who_asked_for_the_second_report_and_prefers_it_has_it_from_then_on(
    pool: asyncpg.Pool, run_id: UUID, owner: Person, api: ApiClient
) -> None:
    async def revealed(person: Person, wanted: str) -> int | None:
        path = f"/v1/comparisons/{id_}"
        shown = (await person.get(path)).json
        await person.post(f"{path}/choice", make_choice("left" if wanted in shown["left"]["markdown"] else "right"))
        version: int | None = (await person.post(f"{path}/reveal")).json["version"]
        return version

    id_ = await make_comparison(pool, owner, run_id, ALTERNATIVE, BY_QUOTING)
    assert await revealed(await add_person(pool, api), ALTERNATIVE) is None
    assert await revealed(owner, ALTERNATIVE) == 2
    listed = (await owner.get(f"/v1/runs/{run_id}/versions")).json["items"]
    assert (listed[0]["n"], listed[0]["origin"], listed[0]["based_on"]) == (2, "chosen", 1)
    stored = await pool.fetchrow("SELECT report, evidence FROM report_versions WHERE run_id = $1", run_id)
    assert ALTERNATIVE in stored["report"]
    assert str(await find_made_run(pool, id_)) not in stored["evidence"]
    id_ = await make_comparison(pool, owner, run_id, f"{ALTERNATIVE} Again.", BY_QUOTING)
    assert await revealed(owner, "Again.") is None, "the report has another version by now"
    other = await make_finished_run(pool, make_report(DELIVERED), BY_MODEL)
    id_ = await make_comparison(pool, owner, other, ALTERNATIVE, BY_QUOTING)
    assert await revealed(owner, DELIVERED) is None


async def test_no_byte_of_the_blind_answers_tells_which_report_is_which(
    pool: asyncpg.Pool, run_id: UUID, owner: Person, api: ApiClient
) -> None:
    id_ = await make_comparison(pool, owner, run_id, ALTERNATIVE, BY_QUOTING)
    reader = await add_person(pool, api)
    second = await find_made_run(pool, id_)
    created = await pool.fetchval("SELECT created_at FROM runs WHERE id = $1", second)
    candidates = "SELECT digest FROM candidates WHERE comparison_id = $1"
    seen = await reader.get(f"/v1/comparisons/{id_}")
    digests = [row["digest"] for row in await pool.fetch(candidates, UUID(id_))]
    secrets = [
        *(
            str(second),
            second.hex,
            BY_MODEL.model,
            BY_MODEL.build,
            BY_QUOTING.build,
            "0.3141592",
            "section/v4",
            "ab" * 32,
            "arrangement",
        ),
        *("brief", "minddr", "delivered", "alternative", "written by", "the-judge", "usage", "cost", "token", "model"),
        *(created.isoformat()[:23], *digests),
    ]
    assert len(digests) == 2
    for reply in (seen, await reader.get("/v1/comparisons")):
        heard = reply.body.decode().lower() + str(reply.headers).lower()
        assert [secret for secret in secrets if secret in heard] == []
    chosen = await reader.post(f"/v1/comparisons/{id_}/choice", make_choice("both_bad"))
    assert [secret for secret in secrets if secret in chosen.body.decode().lower()] == []
    # What is left tells nothing: whoever is shown the two the other way round is told the same, the other way round.
    other = (await (await add_person(pool, api)).get(f"/v1/comparisons/{id_}")).json
    mine = seen.json
    assert (other["left"], other["right"]) == (mine["right"], mine["left"])
    assert list(other) == list(mine)
    assert list(other["left"]) == list(other["right"])


async def test_webhooks_hear_of_no_second_report(pool: asyncpg.Pool, run_id: UUID, owner: Person) -> None:
    asked = "INSERT INTO webhooks (id, url, secret) VALUES (gen_random_uuid(), 'https://example.org/hook', 's')"
    await pool.execute(asked)
    id_ = await make_comparison(pool, owner, run_id, ALTERNATIVE, BY_QUOTING)
    told = [row["body"] for row in await pool.fetch("SELECT body FROM webhook_deliveries")]
    assert [body for body in told if str(await find_made_run(pool, id_)) in body] == []


async def test_what_cannot_be_compared_says_why(
    pool: asyncpg.Pool, run_id: UUID, owner: Person, api: ApiClient, run_log: RunLog
) -> None:
    def asking(**writer: object) -> dict[str, object]:
        return {"run_id": str(run_id), "writer": writer}

    assert (await owner.post("/v1/comparisons", asking())).is_problem(400)
    assert (await owner.post("/v1/comparisons", asking(temperature=3))).is_problem(400)
    assert (await owner.post("/v1/comparisons", {"run_id": str(uuid4()), "writer": BY_TIME})).is_problem(404)
    unfinished = await owner.api.ask()
    assert (await owner.post("/v1/comparisons", {"run_id": unfinished, "writer": BY_TIME})).is_problem(409)

    same = await make_comparison(pool, owner, run_id, DELIVERED, BY_QUOTING)
    assert "the same" in (await owner.get(f"/v1/comparisons/{same}")).json["detail"]
    asked = (await owner.post("/v1/comparisons", asking(model="no-such"))).json["id"]
    await finish_run(pool, await find_made_run(pool, asked), make_report(ALTERNATIVE), BY_QUOTING)
    answer = (await owner.get(f"/v1/comparisons/{asked}")).json
    assert (answer["status"], "could not be written as asked" in answer["detail"]) == ("failed", True)

    parked = (await owner.post("/v1/comparisons", asking(temperature=1))).json["id"]
    second = await find_made_run(pool, parked)
    await run_log.set_status(second, RunStatus.BUDGET_REACHED)
    assert "budget" in (await owner.get(f"/v1/comparisons/{parked}")).json["detail"]
    assert await pool.fetchval("SELECT status FROM runs WHERE id = $1", second) == "cancelled"

    refused = (await owner.post("/v1/comparisons", asking(temperature=1))).json["id"]
    second = await find_made_run(pool, refused)
    await run_log.set_status(second, RunStatus.PAUSED, "paused by somebody")
    assert (await owner.get(f"/v1/comparisons/{refused}")).json["status"] == "preparing"
    await run_log.set_status(second, RunStatus.PAUSED, "the key is wrong", reason=WaitReason.MODEL_REFUSED)
    shown = (await owner.get(f"/v1/comparisons/{refused}")).json
    assert (shown["status"], "the key is wrong" in shown["detail"]) == ("failed", True)
    assert await pool.fetchval("SELECT status FROM runs WHERE id = $1", second) == "cancelled"


async def test_a_choice_is_kept_for_its_time_from_when_it_was_made(pool: asyncpg.Pool, run_id: UUID, owner: Person) -> None:
    async def looked(days_ago: int) -> str:
        path = f"/v1/comparisons/{await make_comparison(pool, owner, run_id, ALTERNATIVE, BY_QUOTING)}"
        await owner.get(path)
        looks = "UPDATE viewings SET first_viewed_at = now() - make_interval(days => $2) WHERE comparison_id = $1"
        await pool.execute(looks, UUID(path.rpartition("/")[2]), days_ago)
        return path

    late, never = await looked(40), await looked(41)
    await owner.post(f"{late}/choice", make_choice("left"))
    assert (await owner.put("/v1/retention", {"feedback_days": 30})).status == 200
    assert (await delete_past(pool)).get("viewings") == 1
    assert (await owner.get(late)).json["choice"]["verdict"] == "left"
    assert (await owner.post(f"{never}/choice", make_choice("left"))).is_problem(409)
    await pool.execute("UPDATE choices SET changed_at = now() - interval '32 days' WHERE user_id = $1", owner.id)
    assert (await delete_past(pool)).get("viewings") == 1
    assert (await owner.put("/v1/retention", {})).status == 200


async def test_who_may_compare(pool: asyncpg.Pool, run_id: UUID, owner: Person, api: ApiClient) -> None:
    path = f"/v1/comparisons/{await make_comparison(pool, owner, run_id, ALTERNATIVE, BY_QUOTING)}"
    viewer = await add_person(pool, api, Role.VIEWER)
    assert (await viewer.get(path)).status == 200
    assert (await viewer.post(f"{path}/choice", make_choice("left"))).is_problem(403)
    stranger = await add_person(pool, api, Role.OWNER, uuid4())
    for method, tail, body in (("GET", "", None), ("POST", "/choice", make_choice("left")), ("POST", "/reveal", None)):
        assert (await stranger.send(method, path + tail, body)).is_problem(404)
    assert (await stranger.post("/v1/comparisons", {"run_id": str(run_id), "writer": BY_TIME})).is_problem(404)
    assert (await stranger.get("/v1/comparisons")).json["items"] == []
    for malformed in ({"verdict": "left"}, {"verdict": "tie", "strength": 1}, {"verdict": "best"}):
        assert (await owner.post(f"{path}/choice", malformed)).is_problem(400)


async def test_lists_come_in_pages(pool: asyncpg.Pool, owner: Person) -> None:
    run_id = await make_finished_run(pool, make_report(DELIVERED), BY_MODEL)
    made = [await make_comparison(pool, owner, run_id, f"{ALTERNATIVE} {n}", BY_QUOTING) for n in range(3)]
    first = (await owner.get(f"/v1/comparisons?run_id={run_id}&limit=2")).json
    rest = (await owner.get(f"/v1/comparisons?run_id={run_id}&limit=2&before={first['next']}")).json
    assert [item["id"] for item in (*first["items"], *rest["items"])] == made[::-1]
    assert rest["next"] is None
    assert (await owner.get(f"/v1/comparisons?before={uuid4()}")).is_problem(400)


async def test_votes_make_a_standing_and_an_admin_may_set_the_default(
    pool: asyncpg.Pool, run_id: UUID, owner: Person, api: ApiClient, workflows: InMemoryRuns
) -> None:
    home = uuid4()
    boss = await add_person(pool, api, Role.ADMIN, home)
    own = await make_finished_run(pool, make_report(DELIVERED), BY_MODEL)
    await pool.execute("UPDATE runs SET organisation_id = $2, created_by = $3 WHERE id = $1", own, home, boss.id)
    path = f"/v1/comparisons/{await make_comparison(pool, boss, own, ALTERNATIVE, BY_QUOTING)}"
    readers = [boss, *[await add_person(pool, api, organisation=home) for _ in range(3)]]
    for reader in readers:
        shown = (await reader.get(path)).json
        side = "left" if ALTERNATIVE in shown["left"]["markdown"] else "right"
        await reader.post(f"{path}/choice", make_choice(side if reader is not boss else "both_bad"))
    told = (await boss.get("/v1/preferences/summary")).json
    [contest] = told["contests"]
    assert (contest["first"], contest["second"]) == (BY_QUOTING.way, BY_MODEL.way)
    assert [contest[name] for name in ("wins", "losses", "ties", "both_bad", "readers")] == [3, 0, 0, 1, 4]
    assert (contest["won"], contest["high"]) == (1, 1)
    assert 0.4 < contest["low"] < 0.5
    assert contest["settled"] is None
    assert told["default"]["arrangement"] == "automatic"
    assert (await readers[1].put("/v1/preferences/default", BY_TIME)).is_problem(403)
    assert (await boss.put("/v1/preferences/default", BY_TIME)).status == 200
    await boss.post("/v1/runs", {"question": "Why duties?"})
    assert workflows.started[-1].query.writer.arrangement == "time"
    await boss.post("/v1/runs", {"question": "Why duties?", "composition": "single_pass"})
    writer = workflows.started[-1].query.writer
    assert (writer.arrangement, writer.composition) == ("time", "single_pass"), "the default stands where the run says nothing"
    await owner.post("/v1/runs", {"question": "Why duties?"})
    assert workflows.started[-1].query.writer.arrangement == "automatic"


async def test_reports_to_compare_go_with_a_document_that_they_quote(
    pool: asyncpg.Pool, run_id: UUID, owner: Person, api: ApiClient
) -> None:
    collection, snapshot = uuid4(), QUOTES[0].source.snapshot
    await pool.execute("INSERT INTO collections (id, name, everyone) VALUES ($1, $2, true)", collection, str(collection))
    await pool.execute("INSERT INTO collection_runs (collection_id, run_id) VALUES ($1, $2)", collection, run_id)
    comparison = await make_comparison(pool, owner, run_id, ALTERNATIVE, BY_QUOTING)
    path, reader = f"/v1/comparisons/{comparison}", await add_person(pool, api)
    await reader.get(path)
    assert (await reader.post(f"{path}/choice", make_choice("left"))).status == 201
    readers = await collection_tending.list_readers(pool, collection, snapshot)
    assert {found.run_id for found in readers} == {run_id, await find_made_run(pool, comparison)}
    async with pool.acquire() as connection, connection.transaction():
        for found in readers:
            await redaction.redact(connection, found.run_id, snapshot)
    assert await collection_tending.list_readers(pool, collection, snapshot) == []
    shown = (await reader.get(path)).json
    assert (shown["status"], shown["detail"]) == ("failed", "a document that these reports quote was deleted")
    assert (await reader.post(f"{path}/reveal")).is_problem(409)
    second = await find_made_run(pool, comparison)
    for table, of, id_ in (
        ("candidates", "comparison_id", UUID(comparison)),
        ("reports", "run_id", second),
        ("stages", "run_id", second),
    ):
        rows = await pool.fetch(f"SELECT * FROM {table} WHERE {of} = $1", id_)
        said = [value if isinstance(value, bytes) else str(value).encode() for row in rows for value in row]
        assert not any(snapshot.encode() in value or QUOTES[0].text.encode() in value for value in said), table
    assert (await owner.get(f"/v1/runs/{run_id}/report")).status == 200  # what a report prints is the report's
    votes = (await owner.get("/v1/preferences/summary")).json["contests"]
    assert sum(contest["wins"] + contest["losses"] for contest in votes) >= 1
