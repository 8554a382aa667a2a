"""Fixtures: a real SMTP server that takes mail, refuses it, or is not there, and a deployment that sends by it."""

import email
from collections.abc import AsyncIterator, Iterator
from email.policy import default
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import Envelope

from app.accounts.service.policy import AccountPolicy
from app.http.services import open_services
from app.outgoing.mail import Mailbox
from app.setting_values import MailSecurity
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

    def read_last(self) -> tuple[list[str], str]:
        """To whom the last letter went, and its text."""
        mail = email.message_from_bytes(self.taken[-1].content or b"", policy=default)
        return self.taken[-1].rcpt_tos, mail.get_content()


def token_in(text: str, form: str) -> str:
    """The token of the one link in a letter, which leads to a form of the page."""
    [link] = [word for word in text.split() if "://" in word]
    parts = urlsplit(link)
    fields = parse_qs(parts.query)
    assert (parts.scheme, parts.netloc, parts.path, fields["form"]) == ("https", "page.example", "/sign-in", [form])
    return fields["token"][0]


@pytest.fixture
def box() -> Iterator[Controller]:
    controller = Controller(Letterbox(), hostname="127.0.0.1", port=find_free_port())
    controller.start()
    yield controller
    if controller.server is not None:
        controller.stop()


@pytest.fixture
async def browsers(
    box: Controller, api_urls: tuple[str, str], workflows: InMemoryRuns, fresh_buckets: None
) -> AsyncIterator[tuple[Browser, Browser]]:
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
