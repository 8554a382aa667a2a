"""Own documents over the API, with the real index behind it: sending, following, sharing, deleting; and nobody else's."""

import asyncio
from collections.abc import Iterator
from uuid import UUID

import asyncpg
import pytest

from app.accounts.nouns.access import Role
from app.collections.nouns import MAX_FILE_BYTES, index_name_of
from app.collections.service.index_owner import IndexService
from app.domain.errors import NotFound
from app.http.services import Services
from app.retention.service.retention import delete_past
from app.runs.storage.run_log import RunLog
from rubrica_client import AsyncClient, schedules
from rubrica_client import documents as calls
from rubrica_client.models import Access
from tests.app.accounts.test_personal import traces
from tests.app.browser import PASSWORD
from tests.app.collections.conftest import documents, send, settled
from tests.app.conftest import NewBrowser
from tests.app.database.conftest import OrganisationWithRun, add_member
from tests.app.served_api import serve_api
from tests.retrieval.service.owner_process import OwnerProcess

LEASE = b"# Lease\n\nThe lease of the warehouse ends on 3 May 2031. Its rent is paid in advance."
ANNEX = b"The annex of the warehouse has a roof of slate."


async def test_documents_are_sent_followed_replaced_and_deleted(
    services: Services, two: tuple[OrganisationWithRun, OrganisationWithRun], owner: OwnerProcess
) -> None:
    async with serve_api(services, two[0].key) as api:
        made = await api.post("/v1/collections", {"name": "Contracts"})
        assert (made.status, made.headers["Location"]) == (201, f"/v1/collections/{made.json['id']}")
        collection = made.json["id"]
        sent = await send(
            api,
            collection,
            ("../../etc/lease\u202e.md", LEASE),
            ("C:\\temp\\annex.txt", ANNEX),
            ("broken.pdf", b"%PDF-1.7 nothing"),
            ("virus.exe", b"MZ"),
            ("empty.txt", b""),
            (".md", b"no name"),
        )
        assert sent.status == 201, sent.body
        assert {d["name"] for d in sent.json["items"]} == {"lease.md", "annex.txt", "broken.pdf"}
        refused = {file["name"]: file["reason"] for file in sent.json["refused"]}
        assert set(refused) == {"virus.exe", "empty.txt", ".md"}
        assert "is of a kind that is not read" in refused["virus.exe"]
        held = await settled(api, collection)
        assert {name: d["state"] for name, d in held.items()} == {
            "lease.md": "indexed", "annex.txt": "indexed", "broken.pdf": "failed",
        }  # fmt: skip
        assert "not a PDF" in held["broken.pdf"]["detail"]
        first = await api.get(f"/v1/collections/{collection}/documents?limit=2")
        rest = await api.get(f"/v1/collections/{collection}/documents?limit=2&before={first.json['next']}")
        assert [d["name"] for d in (*first.json["items"], *rest.json["items"])] == list(held)
        assert rest.json["next"] is None
        shown = (await api.get(f"/v1/collections/{collection}")).json
        assert (shown["documents"], shown["bytes"] > 100) == (3, True)

        await send(api, collection, ("lease.md", LEASE.replace(b"2031", b"2044")))
        again = await settled(api, collection)
        assert again["lease.md"]["id"] != held["lease.md"]["id"]
        gone = await api.send("DELETE", f"/v1/collections/{collection}/documents/{again['annex.txt']['id']}")
        assert gone.status == 202
        await settled(api, collection, "annex.txt")
        files = {path.read_bytes() for path in (owner.home / "documents").rglob("original*")}
        assert (ANNEX in files, LEASE in files, LEASE.replace(b"2031", b"2044") in files) == (False, False, True)
        assert (await api.send("DELETE", f"/v1/collections/{collection}")).status == 202
        assert (await api.get(f"/v1/collections/{collection}")).is_problem(404)
        assert (await api.post("/v1/collections", {"name": "Contracts"})).status == 201  # the name is free at once


async def test_documents_go_with_their_organisations_last_member(
    services: Services, new_browser: NewBrowser, addresses: Iterator[str], pool: asyncpg.Pool, owner: OwnerProcess
) -> None:
    browser = await new_browser()
    me = await browser.sign_up(next(addresses))
    organisation, name = UUID(me["organisation"]["id"]), "Papers of nobody"
    collection = (await browser.post("/v1/collections", {"name": name})).json["id"]
    await send(browser, collection, ("lease.md", LEASE))
    await settled(browser, collection)
    folder, index = owner.home / "documents" / organisation.hex, IndexService(f"unix:{owner.socket}")
    progress = f"/collections/{index_name_of(UUID(collection))}/progress"
    assert LEASE in [path.read_bytes() for path in folder.rglob("original*")]
    assert await index.call("GET", progress)
    assert (await browser.post("/v1/me/erasure", {"password": PASSWORD})).status == 204
    assert await traces(pool, me["user_id"], name, "lease.md") == {}
    while await traces(pool, collection):
        await asyncio.sleep(0.1)
    assert list(folder.iterdir()) == []
    with pytest.raises(NotFound):
        await index.call("GET", progress)
    await delete_past(pool)
    assert await traces(pool, str(organisation)) == {}


async def test_of_files_of_one_name_that_are_sent_at_once_one_stays(
    services: Services, two: tuple[OrganisationWithRun, OrganisationWithRun]
) -> None:
    async with serve_api(services, two[0].key) as api:
        collection = (await api.post("/v1/collections", {"name": "At once"})).json["id"]
        sent = await asyncio.gather(*(send(api, collection, ("lease.md", LEASE + b"%d" % n)) for n in range(8)))
        assert [reply.status for reply in sent] == [201] * 8
        listed = (await api.get(f"/v1/collections/{collection}/documents?limit=100")).json["items"]
        assert [document["state"] for document in listed].count("deleting") == len(listed) - 1


async def test_a_run_names_a_collection_by_any_name_that_one_can_have(
    services: Services, two: tuple[OrganisationWithRun, OrganisationWithRun], run_log: RunLog
) -> None:
    async with serve_api(services, two[0].key) as api:
        for given, asked in (("Long " + "x" * 145, "Long " + "x" * 145), ("Caf\u00e9  prices", "  Cafe\u0301 prices")):
            made = (await api.post("/v1/collections", {"name": given})).json
            run = await run_log.load(UUID(await api.ask("When does the lease end?", collections=[asked])))
            assert run.query.searched == (f"own-{UUID(made['id']).hex}",), asked
        too_long = {"question": "When?", "collections": ["x" * 151]}
        assert (await api.post("/v1/runs", too_long)).is_problem(400)


async def test_what_is_sent_is_bounded(
    services: Services, two: tuple[OrganisationWithRun, OrganisationWithRun], owner: OwnerProcess
) -> None:
    async with serve_api(services, two[0].key) as api:
        collection = (await api.post("/v1/collections", {"name": "Bounded"})).json["id"]
        path = f"/v1/collections/{collection}/documents"
        large = await send(api, collection, ("large.txt", bytes(MAX_FILE_BYTES + 1)), ("small.txt", b"It fits."))
        assert [d["name"] for d in large.json["items"]] == ["small.txt"]
        assert "larger than 64 MiB" in large.json["refused"][0]["reason"]
        many = await send(api, collection, *((f"{n}.bad", b"x") for n in range(52)))
        assert many.is_problem(400)
        for headers, body in (
            ({"Content-Type": "application/json"}, b"{}"),
            ({"Content-Type": "multipart/form-data"}, b"x"),
            (
                {"Content-Type": "multipart/form-data; boundary=b"},
                b"--b\r\nContent-Disposition: form-data; name=file; filename=a.txt",
            ),
        ):
            assert (await api.send("POST", path, data=body, headers=headers)).is_problem(400)
        host, port = api.address.removeprefix("http://").split(":")
        _, writer = await asyncio.open_connection(host, int(port))
        begun = b'--b\r\nContent-Disposition: form-data; name="f"; filename="cut.txt"\r\n\r\nhalf of it'
        head = f"POST {path} HTTP/1.1\r\nHost: {host}:{port}\r\nAuthorization: Bearer {two[0].key}\r\nContent-Length: 9000\r\n"
        writer.write(head.encode() + b"Content-Type: multipart/form-data; boundary=b\r\n\r\n" + begun)
        await writer.drain()
        incoming = owner.home / "documents" / ".incoming"
        while not list(incoming.iterdir()):
            await asyncio.sleep(0.02)
        writer.close()
        while list(incoming.iterdir()):
            await asyncio.sleep(0.02)
        assert list(await documents(api, collection)) == ["small.txt"]


async def test_a_collection_is_there_for_those_who_may_use_it_and_for_nobody_else(
    services: Services, two: tuple[OrganisationWithRun, OrganisationWithRun], pool: asyncpg.Pool, run_log: RunLog
) -> None:
    ours, theirs = two
    member = await add_member(pool, ours.organisation, Role.MEMBER)
    viewer = await add_member(pool, ours.organisation, Role.VIEWER)
    async with (
        serve_api(services, ours.key) as api,
        serve_api(services, theirs.key) as stranger,
        serve_api(services, member) as colleague,
        serve_api(services, viewer) as onlooker,
    ):
        collection = (await api.post("/v1/collections", {"name": "Secret papers"})).json["id"]
        await send(api, collection, ("lease.md", LEASE))
        document = (await settled(api, collection))["lease.md"]["id"]
        path, index = f"/v1/collections/{collection}", f"own-{UUID(collection).hex}"

        for method, at in (("GET", ""), ("DELETE", ""), ("GET", "/documents"), ("DELETE", f"/documents/{document}")):
            assert (await stranger.send(method, path + at)).is_problem(404)
        assert (await stranger.put(f"{path}/access", {"everyone": True})).is_problem(404)
        assert (await send(stranger, collection, ("a.txt", b"x"))).is_problem(404)
        assert (await stranger.get("/v1/collections")).json == {"items": [], "next": None}
        assert (await stranger.get(f"/v1/collections?before={collection}")).json["items"] == []

        mine = await run_log.load(UUID(await api.ask("When does the lease end?", collections=["Secret papers", "sotu"])))
        assert (mine.query.searched, mine.query.tenant) == ((index, "sotu"), str(ours.organisation))
        assert mine.query.collections == ("Secret papers", "sotu")
        foreign = await run_log.load(UUID(await stranger.ask("When does it end?", collections=["Secret papers"])))
        assert (foreign.query.searched, foreign.query.tenant) == ((), "")
        for name in (index, index.upper()):
            assert (await stranger.post("/v1/runs", {"question": "When?", "collections": [name]})).is_problem(400)
        for field in ("tenant", "searched"):
            smuggled = {"question": "When?", "collections": ["sotu"], field: str(ours.organisation)}
            assert (await stranger.post("/v1/runs", smuggled)).is_problem(400)
        assert (await stranger.get(f"/v1/retrieve?query=lease&collection={index}")).is_problem(400)

        assert (await colleague.get(path)).status == 200
        assert (await colleague.put(f"{path}/access", {"everyone": False})).is_problem(403)
        assert (await colleague.send("DELETE", path)).is_problem(403)
        assert (await send(onlooker, collection, ("a.txt", b"x"))).is_problem(403)
        closed = await api.put(f"{path}/access", {"everyone": False, "roles": ["viewer"]})
        assert (closed.json["access"]["everyone"], closed.json["access"]["roles"]) == (False, ["viewer"])
        assert (await colleague.get(path)).is_problem(404)
        assert (await onlooker.get(f"{path}/documents")).status == 200
        blind = await run_log.load(UUID(await colleague.ask("When does it end?", collections=["Secret papers"])))
        assert (blind.query.searched, blind.query.tenant) == ((), "")
        assert (await api.get("/v1/collections")).json["items"][0]["name"] == "Secret papers"


async def test_the_client_reads_what_the_api_answers(
    services: Services, two: tuple[OrganisationWithRun, OrganisationWithRun]
) -> None:
    async with serve_api(services, two[0].key) as api, AsyncClient(api.address, str(two[0].key), trust_env=False) as client:
        made = await client.send(calls.create_collection("Page"))
        assert (await client.send(calls.set_access(made.id, Access(everyone=True)))).access.everyone
        files = [("合同.txt", "仓库的租约于2031年到期。".encode()), ("x.exe", b"MZ")]
        sent = await client.send(calls.upload(made.id, files))
        assert ([d.name for d in sent.items], [f.name for f in sent.refused]) == (["合同.txt"], ["x.exe"])
        assert [d.name for d in (await client.send(calls.list_(made.id))).items] == ["合同.txt"]
        assert (await client.send(calls.collections())).items[0].documents == 1
        await client.send(calls.delete(made.id, sent.items[0].id))
        await client.send(calls.delete_collection(made.id))
        assert (await client.send(schedules.list_())).items == []
