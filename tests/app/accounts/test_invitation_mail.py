"""Invitations by mail, handed to a real SMTP server that takes them, refuses them, or is not there."""

import email
from collections.abc import AsyncIterator, Iterator
from email.policy import default
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import Envelope

from app.accounts.service import invitation_mail
from app.accounts.service.policy import AccountPolicy
from app.http.services import open_services
from app.outgoing.mail import Mailbox
from app.settings import MailSecurity
from infra.local.ports import find_free_port
from tests.app.browser import Browser, open_browser
from tests.app.served_api import InMemoryRuns, serve_api


class Letterbox:
    """Takes mail as long as it says so."""

    reply = "250 OK"

    def __init__(self) -> None:
        self.taken: list[Envelope] = []

    async def handle_DATA(self, server: Any, session: Any, envelope: Envelope) -> str:
        self.taken.append(envelope)
        return self.reply


@pytest.fixture
def box() -> Iterator[Controller]:
    controller = Controller(Letterbox(), hostname="127.0.0.1", port=find_free_port())
    controller.start()
    yield controller
    if controller.server is not None:
        controller.stop()


@pytest.fixture
async def browsers(box: Controller, api_urls: tuple[str, str], workflows: InMemoryRuns) -> AsyncIterator[tuple[Browser, Browser]]:
    """Two people, at a deployment that sends mail."""
    sender, public = "Rubrica <no-reply@rubrica.example>", "http://api.example"  # without https cookies are not kept to it
    mailbox = Mailbox("127.0.0.1", box.port, sender, public, MailSecurity.NONE)
    policy = AccountPolicy(public_url=public, page_url="https://page.example", mailbox=mailbox)
    async with (
        open_services(*api_urls, workflows, accounts_policy=policy) as services,
        serve_api(services) as client,
        open_browser(client.address) as one,
        open_browser(client.address) as other,
    ):
        yield one, other


async def test_an_invitation_goes_out_leads_in_and_carries_nothing_else(
    browsers: tuple[Browser, Browser], box: Controller, addresses: Iterator[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (owner, invited), letterbox, address = browsers, box.handler, next(addresses)
    await owner.sign_up(next(addresses), "Win now: https://evil.example <b>贸易</b>")
    made = (await owner.post("/v1/invitations", {"email": address, "role": "member"})).json
    assert (made["mailed"], made["mail_problem"]) == (True, "")
    [envelope] = letterbox.taken
    assert envelope.rcpt_tos == [address]
    mail = email.message_from_bytes(envelope.content, policy=default)
    text = mail.get_content()
    assert "evil example" in text, "its name, but no address"
    assert "贸易" in text
    [link] = [word for word in text.split() if "://" in word]
    parts = urlsplit(link)
    assert (parts.scheme, parts.netloc, parts.path) == ("https", "page.example", "/sign-in")
    assert (await invited.accept(parse_qs(parts.query)["token"][0])).status == 200

    letterbox.reply = "550 no such person here"
    refused = (await owner.post("/v1/invitations", {"email": next(addresses), "role": "member"})).json
    assert (refused["mailed"], "550" in refused["mail_problem"], bool(refused["token"])) == (False, True, True)
    box.stop()
    away = (await owner.post("/v1/invitations", {"email": next(addresses), "role": "member"})).json
    assert "does not answer" in away["mail_problem"]
    monkeypatch.setattr(invitation_mail, "BURST", 3)
    many = (await owner.post("/v1/invitations", {"email": next(addresses), "role": "member"})).json
    assert (many["mailed"], many["mail_problem"]) == (False, invitation_mail.TOO_MANY)
