"""No log ever holds a password, a key or a token: neither ours nor the database's."""

import logging
from collections.abc import Iterator
from pathlib import Path

import asyncpg
import pytest

from tests.app.browser import PASSWORD
from tests.app.conftest import NewBrowser
from tests.app.served_api import ApiClient


async def test_secrets_are_in_no_log(
    *, new_browser: NewBrowser, addresses: Iterator[str], api: ApiClient, pool: asyncpg.Pool,
    caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str], servers_dir: Path,
) -> None:  # fmt: skip
    caplog.set_level(logging.DEBUG)
    browser, guest, email = await new_browser(), await new_browser(), next(addresses)
    await browser.sign_up(email)
    made = (await browser.post("/v1/keys", {"name": "k", "scopes": ["runs:read"]})).json["key"]
    token = await browser.invite(next(addresses), "member")
    wrong = "a password that is wrong"
    assert browser.cookie is not None
    secrets = {PASSWORD, wrong, made, made.split("_", 2)[2], token, browser.cookie.value}
    await browser.sign_in(email, wrong)
    await api.get("/v1/runs", headers={"Authorization": f"Bearer {made}"})
    await api.get("/v1/runs", headers={"Authorization": f"Bearer {made}x"})
    await browser.send("POST", "/v1/session", data=f'{{"email": "{email}", "password": "{PASSWORD}"'.encode())
    await browser.post("/v1/session", {"email": email, "password": PASSWORD, "more": 1})
    await pool.execute("ALTER TABLE sessions ADD CONSTRAINT never CHECK (false) NOT VALID")
    await pool.execute("ALTER TABLE api_keys ADD CONSTRAINT never CHECK (false) NOT VALID")
    try:
        broken = [await browser.sign_in(email), await guest.accept(token, PASSWORD)]
        broken.append(await browser.post("/v1/keys", {"name": "k", "scopes": ["runs:read"]}))
    finally:
        await pool.execute("ALTER TABLE sessions DROP CONSTRAINT never")
        await pool.execute("ALTER TABLE api_keys DROP CONSTRAINT never")
    assert [reply.status for reply in broken] == [500] * 3
    database = (servers_dir / "postgres.log").read_text()
    said = caplog.text + "".join(capfd.readouterr()) + database + "".join(reply.body.decode() for reply in broken)
    assert "unexpected error" in caplog.text
    assert 'violates check constraint "never"' in database
    assert [secret for secret in secrets if secret in said] == []
