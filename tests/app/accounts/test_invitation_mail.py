"""Invitations by mail, handed to a real SMTP server that takes them, refuses them, or is not there."""

import asyncio
from collections.abc import Iterator

import pytest
from aiosmtpd.controller import Controller

from app.accounts.service import invitation_mail
from tests.app.accounts.conftest import Letterbox, token_in
from tests.app.browser import Browser


async def test_an_invitation_goes_out_leads_in_and_carries_nothing_else(
    browsers: tuple[Browser, Browser], box: Controller, addresses: Iterator[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (owner, invited), letterbox, address = browsers, box.handler, next(addresses)
    await sign_up_and_confirm(owner, letterbox, next(addresses), "Win now: https://evil.example <b>贸易</b>")
    made = (await owner.post("/v1/invitations", {"email": address, "role": "member"})).json
    assert (made["mailed"], made["mail_problem"], made["token"]) == (True, "", "")
    recipients, text = letterbox.read_last()
    assert recipients == [address]
    assert "evil example" in text, "its name, but no address"
    assert "贸易" in text
    accepted = await invited.accept(token_in(text, "join"))
    assert (accepted.status, accepted.json["verified"]) == (200, True), "nobody else has the token"

    letterbox.reply = "550 no such person here"
    refused = (await owner.post("/v1/invitations", {"email": next(addresses), "role": "member"})).json
    assert (refused["mailed"], "550" in refused["mail_problem"]) == (False, True)
    handed_over = await invited.accept(refused["token"])
    assert (handed_over.status, handed_over.json["verified"]) == (200, False), "the inviter could have used it"
    box.stop()
    away = (await owner.post("/v1/invitations", {"email": next(addresses), "role": "member"})).json
    assert "does not answer" in away["mail_problem"]
    monkeypatch.setattr(invitation_mail, "BURST", 3)
    known = (await owner.get("/v1/invitations")).json
    many = await owner.post("/v1/invitations", {"email": next(addresses), "role": "member"})
    assert many.is_problem(429)
    assert int(many.headers["Retry-After"]) > 0
    assert "token" not in many.json, "nobody gets the token of another's address by sending many"
    assert (await owner.get("/v1/invitations")).json == known


async def sign_up_and_confirm(browser: Browser, letterbox: Letterbox, address: str, organisation: str) -> None:
    """Sign up, and open the link that is mailed."""
    await browser.sign_up(address, organisation)
    while not letterbox.taken:
        await asyncio.sleep(0.01)
    token = token_in(letterbox.read_last()[1], "verify")
    assert (await browser.post("/v1/verifications", {"token": token})).status == 204
