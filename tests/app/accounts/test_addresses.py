"""Whose an address is, and a password that was forgotten: by links that a real SMTP server takes, and by the operator."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import asyncpg
from aiosmtpd.controller import Controller

from app.accounts.storage import addresses as proofs
from tests.app.accounts.conftest import Letterbox, token_in
from tests.app.browser import PASSWORD, Browser
from tests.app.conftest import NewBrowser
from tests.support.stack import RUBRICA, command_environment

NEW = "another long enough password"


async def mail_to(letterbox: Letterbox, address: str, count: int = 1) -> str:
    """The text of the last letter to an address, when it has got so many."""
    while sum(address in letter.rcpt_tos for letter in letterbox.taken) < count:
        await asyncio.sleep(0.01)
    return letterbox.read_last()[1]


async def test_an_address_counts_when_its_link_was_opened(
    browsers: tuple[Browser, Browser], box: Controller, addresses: Iterator[str]
) -> None:
    (owner, other), email, letterbox = browsers, next(addresses), box.handler
    assert (await owner.sign_up(email))["verified"] is False
    first = token_in(await mail_to(letterbox, email), "verify")
    invitation = {"email": next(addresses), "role": "member"}
    refused = await owner.post("/v1/invitations", invitation)
    assert refused.is_problem(403)
    assert "confirm your e-mail address" in refused.json["detail"]
    assert len(letterbox.taken) == 1, "who has proved nothing lets no mail be sent"
    assert (await owner.post("/v1/me/verification")).status == 202
    second = token_in(await mail_to(letterbox, email, 2), "verify")
    assert (await other.post("/v1/verifications", {"token": first})).is_problem(400), "only the newest link is good"
    assert (await other.post("/v1/password-resets/accept", {"token": second, "password": NEW})).is_problem(400)
    assert (await other.post("/v1/verifications", {"token": second})).status == 204
    assert (await other.post("/v1/verifications", {"token": second})).is_problem(400), "and good once"
    assert (await owner.get("/v1/me")).json["verified"] is True
    assert (await owner.get("/v1/members")).json["items"][0]["verified"] is True
    assert (await owner.post("/v1/me/verification")).is_problem(409)
    assert (await owner.post("/v1/invitations", invitation)).status == 201
    assert "address_verified" in [line["action"] for line in (await owner.get("/v1/audit")).json["items"]]


async def test_a_forgotten_password_is_set_by_a_link_that_is_good_once_and_for_a_short_time(
    browsers: tuple[Browser, Browser], box: Controller, addresses: Iterator[str], pool: asyncpg.Pool
) -> None:
    (owner, elsewhere), email, letterbox = browsers, next(addresses), box.handler
    await owner.sign_up(email)
    token = token_in(await mail_to(letterbox, email), "verify")
    assert (await owner.post("/v1/verifications", {"token": token})).status == 204
    made = (await owner.post("/v1/keys", {"name": "k", "scopes": ["runs:read"]})).json
    known, unknown = [await elsewhere.post("/v1/password-resets", {"email": e}) for e in (email, next(addresses))]
    assert (known.status, known.body) == (unknown.status, unknown.body) == (202, unknown.body)
    text = await mail_to(letterbox, email, 2)
    reset = token_in(text, "reset")
    stored = await pool.fetch("SELECT token_hash FROM address_tokens")
    assert [row for row in stored if row["token_hash"] == reset.encode()] == []
    accept = "/v1/password-resets/accept"
    assert (await elsewhere.post(accept, {"token": reset, "password": email})).is_problem(400), "too easy; the link stays good"
    done = await elsewhere.post(accept, {"token": reset, "password": NEW})
    assert (done.status, done.json["email"]) == (200, email)
    assert (await elsewhere.get("/v1/me")).status == 200
    assert (await owner.get("/v1/me")).is_problem(401), "every other session has ended"
    assert (await owner.get("/v1/runs", headers={"Authorization": f"Bearer {made['key']}"})).is_problem(401)
    assert (await owner.sign_in(email, PASSWORD)).is_problem(401)
    assert (await elsewhere.post(accept, {"token": reset, "password": NEW})).is_problem(400)
    assert (await owner.sign_in(email, NEW)).status == 200
    await elsewhere.post("/v1/password-resets", {"email": email})
    late = token_in(await mail_to(letterbox, email, 3), "reset")
    await pool.execute("UPDATE address_tokens SET expires_at = now()")
    assert (await elsewhere.post(accept, {"token": late, "password": NEW})).is_problem(400)
    assert "password_reset" in [line["action"] for line in (await owner.get("/v1/audit")).json["items"]]


async def test_who_took_an_address_that_is_not_theirs_is_out_when_its_owner_resets_the_password(
    browsers: tuple[Browser, Browser], box: Controller, addresses: Iterator[str]
) -> None:
    (thief, owner), email, letterbox = browsers, next(addresses), box.handler
    await thief.sign_up(email, "A trap")
    made = (await thief.post("/v1/keys", {"name": "k", "scopes": ["runs:read"]})).json
    await mail_to(letterbox, email)
    await owner.post("/v1/password-resets", {"email": email})
    token = token_in(await mail_to(letterbox, email, 2), "reset")
    done = await owner.post("/v1/password-resets/accept", {"token": token, "password": NEW})
    assert (done.status, done.json["verified"]) == (200, True)
    assert (await thief.get("/v1/me")).is_problem(401)
    assert (await thief.sign_in(email)).is_problem(401)
    assert (await thief.get("/v1/runs", headers={"Authorization": f"Bearer {made['key']}"})).is_problem(401)


async def test_nobody_is_flooded_with_links(browsers: tuple[Browser, Browser], box: Controller, addresses: Iterator[str]) -> None:
    (stranger, _), email = browsers, next(addresses)
    replies = [await stranger.post("/v1/password-resets", {"email": email}) for _ in range(5)]
    assert [reply.status for reply in replies] == [202, 202, 202, 429, 429]
    assert box.handler.taken == []


async def test_signing_up_again_and_again_mails_one_address_a_few_times_only(
    browsers: tuple[Browser, Browser], box: Controller, addresses: Iterator[str]
) -> None:
    (owner, _), email, last, letterbox = browsers, next(addresses), next(addresses), box.handler
    for number in range(6):
        await owner.sign_up(email, f"Place {number}")
    asked = await owner.post("/v1/me/verification")
    assert asked.is_problem(429)
    assert int(asked.headers["Retry-After"]) > 0
    known, unknown = [[(await owner.post("/v1/password-resets", {"email": e})).status for _ in range(4)] for e in (email, last)]
    assert (known, unknown) == ([429] * 4, [202] * 3 + [429])
    await owner.sign_up(last, "A new bucket")
    await owner.sign_up(f"last.{last}")
    await mail_to(letterbox, f"last.{last}")
    await mail_to(letterbox, email, 3)
    sent = [letter.rcpt_tos for letter in letterbox.taken]
    assert (sent.count([email]), sent.count([last])) == (3, 0)


async def test_many_inviters_do_not_flood_one_address(
    browsers: tuple[Browser, Browser], box: Controller, addresses: Iterator[str]
) -> None:
    (owner, _), email, invited, letterbox = browsers, next(addresses), next(addresses), box.handler
    await owner.sign_up(email)
    await owner.post("/v1/verifications", {"token": token_in(await mail_to(letterbox, email), "verify")})
    statuses = []
    for number in range(5):
        await owner.sign_up(email, f"Place {number}")
        statuses.append((await owner.post("/v1/invitations", {"email": invited, "role": "member"})).status)
    assert statuses == [201] * 3 + [429] * 2
    assert [letter.rcpt_tos for letter in letterbox.taken].count([invited]) == 3


async def test_without_mail_the_operator_vouches_and_sets_passwords(
    new_browser: NewBrowser, addresses: Iterator[str], api_urls: tuple[str, str], tmp_path: Path, pool: asyncpg.Pool
) -> None:
    owner, email = await new_browser(), next(addresses)
    me = await owner.sign_up(email)
    assert await owner.invite(next(addresses), "member"), "the link is shown, as there is no mail"
    for path, body in (("/v1/me/verification", None), ("/v1/password-resets", {"email": email})):
        refused = await owner.post(path, body)
        assert refused.is_problem(404)
        assert "rubrica admin" in refused.json["detail"]

    async def admin(*words: str, told: str = "") -> tuple[int | None, str]:
        environment = command_environment(RUBRICA_HOME=str(tmp_path), RUBRICA_WORKER_DATABASE_URL=api_urls[1])
        pipes = {"stdin": asyncio.subprocess.PIPE, "stdout": asyncio.subprocess.PIPE, "stderr": asyncio.subprocess.STDOUT}
        process = await asyncio.create_subprocess_exec(*RUBRICA, "admin", *words, env=environment, **pipes)  # type: ignore[arg-type]
        said, _ = await process.communicate(told.encode())
        return process.returncode, said.decode()

    assert (await admin("verify-address", "--email", email.upper()))[0] == 0
    assert (await owner.get("/v1/me")).json["verified"] is True
    code, said = await admin("reset-password", "--email", email, told=f"{NEW}\n")
    assert (code, NEW in said) == (0, False)
    assert (await owner.get("/v1/me")).is_problem(401)
    assert (await owner.sign_in(email, NEW)).status == 200
    code, said = await admin("reset-password", "--email", "nobody@example.org", told=f"{NEW}\n")
    assert (code, "nobody has the address" in said) == (2, True)
    assert await proofs.is_verified(pool, me["user_id"])
