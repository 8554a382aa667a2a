"""Members, invitations and keys: who may do what to whom."""

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import asyncpg
import pytest

from tests.app.browser import Browser
from tests.app.conftest import NewBrowser
from tests.app.served_api import ApiClient


def bearer(made: dict[str, Any]) -> dict[str, str]:
    """The header of a key that was just made."""
    return {"Authorization": f"Bearer {made['key']}"}


async def joined(owner: Browser, new_browser: NewBrowser, email: str, role: str) -> tuple[Browser, str]:
    """A member of the owner's organisation: their browser and id."""
    browser = await new_browser()
    reply = await browser.accept(await owner.invite(email, role))
    assert reply.status == 200, reply.body
    assert reply.json["organisation"]["role"] == role
    return browser, reply.json["user_id"]


async def test_an_invitation_is_good_once_for_a_while_and_for_whom_it_was_meant(
    new_browser: NewBrowser, addresses: Iterator[str], pool: asyncpg.Pool
) -> None:
    owner, guest = await new_browser(), await new_browser()
    await owner.sign_up(next(addresses), "Hosts")
    email = next(addresses)
    replaced, token = await owner.invite(email, "admin"), await owner.invite(email, "member")
    listed = (await owner.get("/v1/invitations")).json["items"]
    assert [(item["email"], item["role"]) for item in listed] == [(email, "member")]
    assert token not in str(await pool.fetchval("SELECT array_agg(i::text) FROM invitations i"))
    assert (await guest.accept(replaced)).is_problem(400)
    assert (await guest.accept("x" * 43)).is_problem(400)
    assert (await guest.accept(token)).json["organisation"] == (await guest.get("/v1/me")).json["organisation"]
    assert (await guest.accept(token)).is_problem(400)
    assert (await owner.post("/v1/invitations", {"email": email})).is_problem(409)
    late = await owner.invite(next(addresses), "member")
    await pool.execute("UPDATE invitations SET expires_at = now()")
    assert (await guest.accept(late)).is_problem(400)
    assert (await owner.get("/v1/invitations")).json["items"] == []


async def test_an_invitation_does_not_open_somebody_elses_account(new_browser: NewBrowser, addresses: Iterator[str]) -> None:
    owner, victim, thief, email = await new_browser(), await new_browser(), await new_browser(), next(addresses)
    await owner.sign_up(next(addresses))
    await victim.sign_up(email)
    token = await owner.invite(email, "viewer")
    assert (await thief.accept(token, "a password of the thief")).is_problem(401)
    assert (await victim.accept(token)).status == 200
    assert len((await victim.get("/v1/me")).json["organisations"]) == 2


async def test_two_who_accept_at_once_are_not_both_let_in(new_browser: NewBrowser, addresses: Iterator[str]) -> None:
    owner = await new_browser()
    await owner.sign_up(next(addresses))
    token = await owner.invite(next(addresses), "member")
    first, second = await new_browser(), await new_browser()
    replies = await asyncio.gather(first.accept(token), second.accept(token))
    assert sorted(reply.status for reply in replies) in ([200, 400], [200, 401])


async def test_nobody_reaches_above_their_role(new_browser: NewBrowser, addresses: Iterator[str]) -> None:
    owner = await new_browser()
    boss = (await owner.sign_up(next(addresses)))["user_id"]
    admin, admin_id = await joined(owner, new_browser, next(addresses), "admin")
    member, member_id = await joined(owner, new_browser, next(addresses), "member")
    viewer, _ = await joined(owner, new_browser, next(addresses), "viewer")
    assert (await admin.post("/v1/invitations", {"email": next(addresses), "role": "owner"})).is_problem(403)
    assert (await admin.patch(f"/v1/members/{boss}", {"role": "viewer"})).is_problem(403)
    assert (await admin.delete(f"/v1/members/{boss}")).is_problem(403)
    assert (await admin.patch(f"/v1/members/{admin_id}", {"role": "owner"})).is_problem(403)
    for low in (member, viewer):
        assert (await low.patch(f"/v1/members/{member_id}", {"role": "admin"})).is_problem(403)
        assert (await low.post("/v1/invitations", {"email": next(addresses)})).is_problem(403)
        assert len((await low.get("/v1/members")).json["items"]) == 4
    assert (await viewer.post("/v1/runs", {"question": "May I?"})).is_problem(403)
    assert (await viewer.get("/v1/keys")).is_problem(403)
    assert (await admin.patch(f"/v1/members/{member_id}", {"role": "viewer"})).status == 204
    assert (await member.post("/v1/runs", {"question": "May I still?"})).is_problem(403), "a role holds from the next request on"
    page = (await owner.get("/v1/members?limit=3")).json
    rest = (await owner.get(f"/v1/members?limit=3&before={page['next']}")).json
    assert [item["role"] for item in page["items"] + rest["items"]] == ["viewer", "viewer", "admin", "owner"]
    assert rest["next"] is None
    assert (await owner.delete(f"/v1/members/{member_id}")).status == 204
    assert (await member.get("/v1/runs")).is_problem(401)


async def test_who_is_no_member_is_told_of_which_organisation(new_browser: NewBrowser, addresses: Iterator[str]) -> None:
    owner, email = await new_browser(), next(addresses)
    here = (await owner.sign_up(next(addresses)))["organisation"]["id"]
    member, member_id = await joined(owner, new_browser, email, "member")
    assert (await owner.delete(f"/v1/members/{member_id}")).status == 204
    for named, told in (({}, "in no organisation any more"), ({"organisation": here}, "no member of this organisation")):
        refused = await member.sign_in(email, **named)
        assert refused.is_problem(403)
        assert told in refused.json["detail"]


async def test_the_last_owner_stays_even_when_two_leave_at_once(new_browser: NewBrowser, addresses: Iterator[str]) -> None:
    owner = await new_browser()
    first = (await owner.sign_up(next(addresses)))["user_id"]
    assert (await owner.patch(f"/v1/members/{first}", {"role": "member"})).is_problem(409)
    assert (await owner.delete(f"/v1/members/{first}")).is_problem(409)
    second_browser, second = await joined(owner, new_browser, next(addresses), "owner")
    replies = await asyncio.gather(
        owner.patch(f"/v1/members/{first}", {"role": "member"}), second_browser.patch(f"/v1/members/{second}", {"role": "member"})
    )
    assert sorted(reply.status for reply in replies) == [204, 409]


async def test_keys_do_no_more_than_who_made_them(
    new_browser: NewBrowser, addresses: Iterator[str], api: ApiClient, pool: asyncpg.Pool
) -> None:
    owner = await new_browser()
    await owner.sign_up(next(addresses))
    admin, _ = await joined(owner, new_browser, next(addresses), "admin")
    soon = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
    made = (await admin.post("/v1/keys", {"name": "reader", "scopes": ["runs:read", "keys:write"], "expires_at": soon})).json
    key = {"Authorization": f"Bearer {made['key']}"}
    assert (await api.get("/v1/runs", headers=key)).status == 200
    assert (await api.post("/v1/runs", {"question": "May I?"}, headers=key)).is_problem(403)
    assert (await api.post("/v1/keys", {"name": "more", "scopes": ["runs:write"]}, headers=key)).is_problem(403)
    assert (await admin.post("/v1/keys", {"name": "more", "scopes": ["organisation:write"]})).is_problem(403)
    for bad in (
        {"scopes": []},
        {"scopes": ["root"]},
        {"expires_at": "2020-01-01T00:00:00Z"},
        {"expires_at": "2999-01-01T00:00:00"},
    ):
        assert (await admin.post("/v1/keys", {"name": "k", "scopes": ["runs:read"], **bad})).is_problem(400), bad
    listed = await owner.get("/v1/keys")
    assert [item["name"] for item in listed.json["items"]] == ["reader"]
    assert listed.json["items"][0]["last_used_at"] is not None
    assert made["key"].split("_", 2)[2] not in listed.body.decode()
    assert (await owner.delete(f"/v1/keys/{made['info']['id']}")).status == 204
    assert (await api.get("/v1/runs", headers=key)).is_problem(401)
    assert (await owner.delete(f"/v1/keys/{made['info']['id']}")).is_problem(404)


async def test_a_member_has_keys_of_their_own_and_no_others(
    new_browser: NewBrowser, addresses: Iterator[str], api: ApiClient
) -> None:
    owner = await new_browser()
    await owner.sign_up(next(addresses))
    member, _ = await joined(owner, new_browser, next(addresses), "member")
    viewer, _ = await joined(owner, new_browser, next(addresses), "viewer")
    theirs = (await owner.post("/v1/keys", {"name": "the owner's", "scopes": ["runs:read"]})).json
    own = (await member.post("/v1/keys", {"name": "votes", "scopes": ["preferences:write"]})).json
    assert (await api.get("/v1/runs", headers=bearer(own))).is_problem(403)
    assert (await member.post("/v1/keys", {"name": "k", "scopes": ["team:write"]})).is_problem(403)
    assert (await viewer.post("/v1/keys", {"name": "k", "scopes": ["runs:read"]})).is_problem(403)
    assert [item["name"] for item in (await member.get("/v1/keys")).json["items"]] == ["votes"]
    assert {item["name"] for item in (await owner.get("/v1/keys")).json["items"]} == {"votes", "the owner's"}
    assert (await member.delete(f"/v1/keys/{theirs['info']['id']}")).is_problem(404)
    assert (await api.get("/v1/runs", headers=bearer(theirs))).status == 200
    assert (await member.delete(f"/v1/keys/{own['info']['id']}")).status == 204


async def test_with_a_key_end_the_keys_that_it_made(
    new_browser: NewBrowser, addresses: Iterator[str], api: ApiClient, pool: asyncpg.Pool
) -> None:
    owner = await new_browser()
    await owner.sign_up(next(addresses))
    new = {"scopes": ["runs:read", "keys:write"]}
    root = (await owner.post("/v1/keys", {"name": "root", **new})).json
    other = (await owner.post("/v1/keys", {"name": "other", **new})).json
    child = (await api.post("/v1/keys", {"name": "child", **new}, headers=bearer(root))).json
    grandchild = (await api.post("/v1/keys", {"name": "grandchild", **new}, headers=bearer(child))).json
    assert (child["info"]["made_by"], root["info"]["made_by"]) == (root["info"]["id"], None)
    assert (await api.get("/v1/runs", headers=bearer(grandchild))).status == 200
    assert (await owner.delete(f"/v1/keys/{root['info']['id']}")).status == 204
    for made in (root, child, grandchild):
        assert (await api.get("/v1/runs", headers=bearer(made))).is_problem(401)
    assert (await api.get("/v1/runs", headers=bearer(other))).status == 200
    told = (await owner.get("/v1/audit?action=key_revoked")).json["items"]
    assert {item["subject"] for item in told} == {made["info"]["id"] for made in (root, child, grandchild)}


async def test_a_key_that_is_being_made_while_its_maker_ends_ends_too(
    new_browser: NewBrowser, addresses: Iterator[str], api: ApiClient
) -> None:
    owner = await new_browser()
    await owner.sign_up(next(addresses))
    new = {"name": "k", "scopes": ["runs:read", "keys:write"]}
    for _ in range(10):
        root = (await owner.post("/v1/keys", new)).json
        making = [api.post("/v1/keys", new, headers=bearer(root)) for _ in range(4)]
        *made, ended = await asyncio.gather(*making, owner.delete(f"/v1/keys/{root['info']['id']}"))
        assert ended.status == 204
        assert {reply.status for reply in made} <= {201, 401}
    assert (await owner.get("/v1/keys")).json["items"] == []


async def test_who_is_removed_or_lowered_leaves_no_way_back_in(new_browser: NewBrowser, addresses: Iterator[str]) -> None:
    owner, accomplice = await new_browser(), await new_browser()
    await owner.sign_up(next(addresses))
    for lowered in (True, False):
        admin, user = await joined(owner, new_browser, next(addresses), "admin")
        kept_back = await admin.invite(next(addresses), "admin")
        if lowered:
            assert (await owner.patch(f"/v1/members/{user}", {"role": "viewer"})).status == 204
        else:
            assert (await owner.delete(f"/v1/members/{user}")).status == 204
        assert (await accomplice.accept(kept_back)).is_problem(400)
    # A key that ends makes none that goes on after it.
    soon, later = (datetime.now(UTC) + timedelta(days=days) for days in (1, 2))
    new = {"name": "short", "scopes": ["keys:write", "runs:read"], "expires_at": soon.isoformat()}
    key = {"Authorization": f"Bearer {(await owner.post('/v1/keys', new)).json['key']}"}
    for expires_at in (None, later.isoformat()):
        longer = await accomplice.post("/v1/keys", {**new, "expires_at": expires_at}, headers=key)
        assert longer.is_problem(403)
        assert "outlives" in longer.json["detail"]
    assert (await accomplice.post("/v1/keys", new, headers=key)).status == 201


async def test_two_organisations_do_not_reach_each_others_team(new_browser: NewBrowser, addresses: Iterator[str]) -> None:
    ours, theirs = await new_browser(), await new_browser()
    await ours.sign_up(next(addresses))
    stranger = (await theirs.sign_up(next(addresses)))["user_id"]
    key = (await theirs.post("/v1/keys", {"name": "k", "scopes": ["runs:read"]})).json["info"]["id"]
    await theirs.invite(next(addresses), "member")
    invitation = (await theirs.get("/v1/invitations")).json["items"][0]["id"]
    assert (await ours.patch(f"/v1/members/{stranger}", {"role": "viewer"})).is_problem(404)
    for path in (f"/v1/members/{stranger}", f"/v1/keys/{key}", f"/v1/invitations/{invitation}", f"/v1/keys/{uuid4()}"):
        assert (await ours.delete(path)).is_problem(404), path
    assert len((await theirs.get("/v1/members")).json["items"]) == 1
    assert (await ours.get("/v1/keys")).json["items"] == []
    assert (await ours.get("/v1/invitations")).json["items"] == []


async def test_who_lets_others_read_is_written_down(new_browser: NewBrowser, addresses: Iterator[str]) -> None:
    owner = await new_browser()
    await owner.sign_up(next(addresses))
    made = (await owner.post("/v1/collections", {"name": "Contracts", "access": {"everyone": False}})).json["id"]
    await owner.send("PUT", f"/v1/collections/{made}/access", json={"everyone": True})
    await owner.delete(f"/v1/collections/{made}")
    await owner.send("PUT", "/v1/consent", json={"organisation": True})
    told = [(item["action"], item["subject"], item["detail"]) for item in (await owner.get("/v1/audit")).json["items"]]
    assert told[:3] == [
        ("consent_changed", "organisation", {"given": "true"}),
        ("collection_deleted", made, {}),
        ("collection_opened", made, {"everyone": "true"}),
    ]


async def test_what_was_done_is_written_down_for_good(
    new_browser: NewBrowser, addresses: Iterator[str], pool: asyncpg.Pool, api_urls: tuple[str, str]
) -> None:
    owner, email = await new_browser(), next(addresses)
    me = await owner.sign_up(email)
    member, member_id = await joined(owner, new_browser, next(addresses), "admin")
    made = (await member.post("/v1/keys", {"name": "k", "scopes": ["runs:read"]})).json["info"]["id"]
    await owner.delete(f"/v1/keys/{made}")
    await owner.patch(f"/v1/members/{member_id}", {"role": "viewer"})
    await owner.delete(f"/v1/members/{member_id}")
    await owner.sign_in(email, "not the password")
    organisation = me["organisation"]["id"]
    rows = await pool.fetch("SELECT * FROM audit WHERE organisation_id = $1::text::uuid ORDER BY at", organisation)
    assert [row["action"] for row in rows] == [
        *("signed_up", "signed_in", "member_invited", "member_joined", "signed_in", "key_made", "key_revoked"),
        *("role_changed", "member_removed", "sign_in_failed"),
    ]
    assert {row["address"] for row in rows} == {"127.0.0.1"}
    assert [str(row["user_id"]) for row in rows if row["action"].startswith("key")] == [member_id, me["user_id"]]
    connection = await asyncpg.connect(api_urls[0])
    await connection.execute("SELECT set_config('rubrica.organisation', $1, false)", organisation)
    for statement in ("UPDATE audit SET action = 'signed_in'", "DELETE FROM audit", "TRUNCATE audit"):
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await connection.execute(statement)
    await connection.close()
