"""The registry over HTTP: everybody reads what serves them, the operator's admins act, and nobody learns an address."""

from collections.abc import AsyncIterator
from pathlib import Path
from uuid import UUID, uuid4

import asyncpg
import pytest

from app.accounts.nouns.access import Role
from app.domain.model_versions import EvaluationKind, ModelVersion
from app.domain.served_models import ModelRole, ServedModel
from app.http.services import Services, open_services
from app.models.service import registry, serving
from app.models.storage import version_pairs
from app.preferences.service.exportable import list_choices_of
from app.preferences.service.pseudonyms import Pseudonyms, read_key
from tests.app.annotators import add_person
from tests.app.models.trained_models import add_version
from tests.app.preferences.consenting_readers import make_readers
from tests.app.served_api import ApiClient, InMemoryRuns

ADDRESS = "http://secret-host:8000/v1"
BASE = ServedModel(name="base-model", address=ADDRESS)
REASON = {"reason": "better by 3 points"}


@pytest.fixture
async def services(api_urls: tuple[str, str], workflows: InMemoryRuns, tmp_path: Path) -> AsyncIterator[Services]:
    async with open_services(*api_urls, workflows, serving=[BASE], key_file=tmp_path / "pseudonyms.key") as opened:
        yield opened


@pytest.fixture(autouse=True)
async def settings_model(pool: asyncpg.Pool) -> None:
    await pool.execute("TRUNCATE model_versions, served_models, model_aliases, alias_moves, canaries, role_holds CASCADE")
    await serving.register_settings(pool, [BASE])


async def add_served(pool: asyncpg.Pool, parent: UUID | None = None) -> ModelVersion:
    version = await add_version(pool, parent=parent)
    await serving.add_model(pool, ServedModel(name=version.name, address=ADDRESS, version=version.id))
    return version


async def test_what_serves_is_told_to_everybody_and_moved_by_the_operator_alone(pool: asyncpg.Pool, api: ApiClient) -> None:
    version = await add_served(pool)
    later = await add_served(pool, version.id)
    await registry.note_evaluation(pool, version.id, EvaluationKind.GATE, {"verdict": "passed", "rows": []})
    operator = await add_person(pool, api, Role.ADMIN)
    other, member = await add_person(pool, api, Role.OWNER, uuid4()), await add_person(pool, api, Role.MEMBER)
    path = f"/v1/registry/versions/{version.id}"
    for person in (other, member):
        assert (await person.post(f"{path}/promote", REASON)).is_problem(403)
        for act in ("hold", "release", "back"):
            assert (await person.post(f"/v1/registry/roles/writer/{act}", REASON)).is_problem(403)
    assert (await operator.post(f"{path}/promote", REASON)).json["state"] == "serving"
    assert (await operator.post("/v1/registry/roles/writer/hold", {"reason": "a fair"})).status == 204
    address = f"{operator.id}@example.org"
    for person, may_act, by in (
        (operator, True, address),
        (member, False, address),
        (other, False, "operator"),
    ):
        told = (await person.get("/v1/registry/roles")).json
        assert told["may_act"] is may_act
        [writer] = [each for each in told["items"] if each["role"] == "writer"]
        assert (writer["served"], writer["version"]["id"], writer["held"]["why"]) == (version.name, str(version.id), "a fair")
        detail = (await person.get(path)).json
        changes = [(each["state"], each["why"]) for each in detail["changes"]]
        assert changes == [("candidate", "trained by hand"), ("serving", "better by 3 points")]
        assert (writer["held"]["by"], detail["changes"][1]["by"], detail["moves"][0]["by"]) == (by, by, by)
        assert bool(detail["configuration"]) is (person is not other)
        assert [each["id"] for each in detail["lineage"]] == [str(version.id), str(later.id)]
        assert detail["evaluations"][0]["figures"]["verdict"] == "passed"
        card = await person.get(f"{path}/card")
        assert (card.headers["Content-Type"].partition(";")[0], card.body.startswith(b"---\n")) == ("text/markdown", True)
        moves = (await person.get("/v1/registry/moves?role=writer&limit=1")).json["items"]
        assert [(each["came_from"], each["went_to"]) for each in moves] == [(BASE.name, version.name)]
        for reading in ("/v1/registry/roles", "/v1/registry/versions", path, f"{path}/card", "/v1/registry/moves"):
            assert b"secret-host" not in (await person.get(reading)).body
    assert (await operator.post("/v1/registry/roles/writer/release", REASON)).status == 204
    assert (await operator.post("/v1/registry/roles/writer/back", REASON)).status == 204
    assert (await operator.post("/v1/registry/roles/writer/back", REASON)).is_problem(409)
    entries = (await operator.get("/v1/audit")).json["items"]
    done = [(each["action"], each["detail"].get("why")) for each in entries if each["user_id"] == str(operator.id)]
    assert done == [
        ("role_taken_back", "better by 3 points"),
        ("role_released", "better by 3 points"),
        ("role_held", "a fair"),
        ("model_promoted", "better by 3 points"),
    ]


async def test_what_cannot_be_done_is_refused_with_the_reason(pool: asyncpg.Pool, api: ApiClient) -> None:
    version = await add_version(pool)
    operator = await add_person(pool, api, Role.ADMIN)
    path = f"/v1/registry/versions/{version.id}/promote"
    assert (await operator.post(path, REASON)).is_problem(404)  # nothing serves it
    assert (await operator.post(path, REASON | {"served": BASE.name})).is_problem(409)
    for body in ({}, {"reason": " "}, REASON | {"other": 1}, {"reason": "x" * 1_001}):
        assert (await operator.post(path, body)).is_problem(400), body
    assert (await operator.post(f"/v1/registry/versions/{uuid4()}/promote", REASON)).is_problem(404)
    assert (await operator.get(f"/v1/registry/versions/{uuid4()}")).is_problem(404)
    assert (await operator.get(f"/v1/registry/versions?before={uuid4()}")).is_problem(404)
    for role in ("painter", "WRITER"):
        assert (await operator.post(f"/v1/registry/roles/{role}/hold", REASON)).status in (400, 404)
    assert (await operator.post("/v1/registry/roles/judge/release", REASON)).is_problem(409)


async def test_versions_come_in_pages(pool: asyncpg.Pool, api: ApiClient) -> None:
    made = [await add_version(pool) for _ in range(3)]
    await add_version(pool, ModelRole.JUDGE)
    first = (await api.get("/v1/registry/versions?role=writer&limit=2")).json
    rest = (await api.get(f"/v1/registry/versions?role=writer&limit=2&before={first['next']}")).json
    found = [each["name"] for page in (first, rest) for each in page["items"]]
    assert (found, rest["next"]) == ([each.name for each in reversed(made)], None)


async def test_readers_see_which_models_learned_from_their_own_votes(pool: asyncpg.Pool, api: ApiClient, tmp_path: Path) -> None:
    readers = await make_readers(pool, api)
    assert (await readers.fond.get("/v1/registry/my-votes")).json == {"choices": 0, "learned": []}  # nothing was ever exported
    names = Pseudonyms(read_key(tmp_path / "pseudonyms.key"))
    own = list(await list_choices_of(pool, names, readers.fond.id))
    version, without = await add_version(pool, pairs=(*own, "another", "third")), await add_version(pool, pairs=("another",))
    told = (await readers.fond.get("/v1/registry/my-votes")).json
    assert told["choices"] == len(own) == 1
    assert [(each["version"]["id"], each["own"], each["judgements"]) for each in told["learned"]] == [(str(version.id), 1, 3)]
    assert (await readers.asker.get("/v1/registry/my-votes")).json == {"choices": 0, "learned": []}
    await version_pairs.forget(pool, version.id, own)
    assert (await readers.fond.get("/v1/registry/my-votes")).json == {"choices": 1, "learned": []}
    assert (await registry.describe_version(pool, without.id)).pairs == 1
