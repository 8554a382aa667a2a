"""`rubrica admin bootstrap` on a database of one's own."""

import asyncio
import subprocess
from datetime import timedelta
from pathlib import Path

import asyncpg

from app.accounts.nouns.access import AccessScope, Role
from app.accounts.service.attempts import Attempts
from app.accounts.service.authentication import Authenticator
from app.accounts.service.passwords import Passwords
from app.accounts.service.policy import DEFAULT_POLICY
from app.accounts.storage import people
from app.database.engine import connect
from app.domain.errors import TooManyRequests
from app.quotas.storage import rates
from tests.support.accounts import HOME_KEY
from tests.support.stack import RUBRICA, command_environment, run_rubrica


async def bootstrapped(home: Path, url: str, *more: str, told: str = "") -> subprocess.CompletedProcess[str]:
    command = [*RUBRICA, "admin", "bootstrap", "--organisation", "First", "--email", "Ada@Example.org", *more]
    environment = command_environment(RUBRICA_HOME=str(home), RUBRICA_WORKER_DATABASE_URL=url)
    run = subprocess.run
    return await asyncio.to_thread(run, command, env=environment, input=told, capture_output=True, text=True, check=False)


async def test_the_first_organisation_gets_an_owner_and_a_key(tmp_path: Path, api_urls: tuple[str, str]) -> None:
    made = await bootstrapped(tmp_path, api_urls[1], "--password", told="a password told on a line\n")
    assert (made.returncode, made.stderr) == (0, "")
    again = await bootstrapped(tmp_path, api_urls[1])
    assert again.returncode == 0, again.stderr
    lines = [dict(line.split(maxsplit=1) for line in done.stdout.splitlines()) for done in (made, again)]
    pool = await connect(api_urls[1])
    first, second = [await Authenticator(pool, DEFAULT_POLICY).recognise_key(line["key"]) for line in lines]
    person = await people.find_by_email(pool, "ada@example.org")
    await pool.close()
    assert person is not None
    assert first.user_id == second.user_id == person.id
    assert (first.role, first.scopes) == (Role.OWNER, frozenset(AccessScope))
    assert str(first.organisation_id) == lines[0]["organisation"] != lines[1]["organisation"]
    assert await Passwords().fits(person.password_hash, "a password told on a line")


async def test_what_cannot_be_used_is_told_without_repeating_it(tmp_path: Path, api_urls: tuple[str, str]) -> None:
    short = await bootstrapped(tmp_path, api_urls[1], "--password", told="tooshort\n")
    assert (short.returncode, "at least 10" in short.stderr, "tooshort" in short.stderr) == (2, True, False)
    nowhere = await asyncio.to_thread(run_rubrica, tmp_path, "admin", "bootstrap", "--organisation", "O", "--email", "a@b.org")
    assert (nowhere.returncode, "RUBRICA_WORKER_DATABASE_URL" in nowhere.stderr) == (2, True)


async def is_locked_out(pool: asyncpg.Pool, address: str, email: str) -> bool:
    try:
        await Attempts(pool).allow(address, email)
    except TooManyRequests:
        return True
    return False


async def test_who_is_locked_out_is_let_in_again(tmp_path: Path, api_urls: tuple[str, str]) -> None:
    async def unlock(who: str) -> subprocess.CompletedProcess[str]:
        told = {"RUBRICA_WORKER_DATABASE_URL": api_urls[1]}
        return await asyncio.to_thread(run_rubrica, tmp_path, "admin", "unlock", who, **told)

    pool = await connect(api_urls[1])
    ours, theirs = ("192.0.2.7", "ada@example.org"), ("192.0.2.70", "bob@example.org")
    empty = "UPDATE rate_buckets SET full_at = full_at + interval '9 minutes'"
    for named in ("Ada@Example.org", "192.0.2.7"):
        for who in (ours, theirs):
            await Attempts(pool).allow(*who)
        await pool.execute(empty)
        assert await is_locked_out(pool, *ours)
        done = await unlock(named)
        assert (done.returncode, done.stderr) == (0, "")
        other = ("198.51.100.1", ours[1]) if "@" in named else (ours[0], "new@example.org")
        assert not await is_locked_out(pool, *other)
        assert await is_locked_out(pool, *theirs)
        await pool.execute("DELETE FROM rate_buckets")
    key = f"requests of key {HOME_KEY.id}"
    await rates.take(pool, key, timedelta(days=1), 1)
    assert not (await rates.take(pool, key, timedelta(days=1), 1)).granted
    assert (await unlock(str(HOME_KEY))).stdout == "limits that begin anew: 1\n"
    assert (await rates.take(pool, key, timedelta(days=1), 1)).granted
    assert (await unlock(str(HOME_KEY.id))).returncode == 0
    assert (await rates.take(pool, key, timedelta(days=1), 1)).granted
    assert "no limit" in (await unlock(str(HOME_KEY.id).replace("a", "b"))).stdout
    nobody = await unlock("somebody")
    assert (nobody.returncode, "name a network address" in nobody.stderr) == (2, True)
    await pool.close()
