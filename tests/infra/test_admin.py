"""`rubrica admin bootstrap` on a database of one's own."""

import asyncio
import subprocess
from pathlib import Path

from app.accounts.nouns.access import AccessScope, Role
from app.accounts.service.authentication import Authenticator
from app.accounts.service.passwords import Passwords
from app.accounts.service.policy import DEFAULT_POLICY
from app.accounts.storage import people
from app.database.engine import connect
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
