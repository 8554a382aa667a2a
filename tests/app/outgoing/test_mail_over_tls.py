"""Mail over TLS, from the start and once connected, to a real server whose certificate is trusted, or is not."""

import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from email.message import EmailMessage
from pathlib import Path

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session

from app.outgoing.mail import Mailbox, MailUnavailable
from app.setting_values import MailSecurity
from infra.local.ports import find_free_port
from tests.support.authority import HOST, LONG, Authority

USER, PASSWORD = "rubrica", "the mail's secret"
# TLS from the start is no TLS to the server, which begins to count after it.
pytestmark = pytest.mark.filterwarnings("ignore:Requiring AUTH while not requiring TLS:UserWarning")
BOTH = pytest.mark.parametrize("security", [MailSecurity.TLS, MailSecurity.STARTTLS])


@dataclass
class Letterbox:
    """Keeps what it is given: the messages, whether each came over TLS, and what clients said who they are."""

    taken: list[tuple[Envelope, bool]] = field(default_factory=list)
    known: list[LoginPassword] = field(default_factory=list)

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:
        assert server.transport is not None
        self.taken.append((envelope, server.transport.get_extra_info("ssl_object") is not None))
        return "250 OK"

    def authenticate(
        self, server: SMTP, session: Session, envelope: Envelope, mechanism: str, login: LoginPassword
    ) -> AuthResult:
        """Any password will do; it is looked at afterwards."""
        self.known.append(login)
        return AuthResult(success=True)


@asynccontextmanager
async def listening(box: Letterbox, security: MailSecurity, shown: ssl.SSLContext | None) -> AsyncIterator[Mailbox]:
    """A server that wants a login, and the mailbox that hands in there. Without a certificate it offers no TLS."""
    from_start = shown if security is MailSecurity.TLS else None
    once_connected = {"tls_context": shown, "require_starttls": True} if security is MailSecurity.STARTTLS and shown else {}
    asked = {"authenticator": box.authenticate, "auth_required": True, "auth_require_tls": bool(once_connected)}
    server = Controller(box, hostname=HOST, port=find_free_port(), ssl_context=from_start, **once_connected, **asked)
    server.start()
    try:
        yield Mailbox(HOST, server.port, "Rubrica <r@rubrica.example>", "https://rubrica.example", security, USER, PASSWORD)
    finally:
        server.stop()


def letter() -> EmailMessage:
    message = EmailMessage()
    message["To"], message["From"], message["Subject"] = "reader@example.org", "r@rubrica.example", "Changed"
    message.set_content("Something changed.")
    return message


@BOTH
async def test_mail_goes_over_tls_to_a_server_whose_certificate_is_trusted(
    security: MailSecurity, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown, box = Authority().written(tmp_path), Letterbox()
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))
    async with listening(box, security, shown) as mailbox:
        await mailbox.send(letter())
    [(envelope, hidden)] = box.taken
    assert hidden
    assert envelope.rcpt_tos == ["reader@example.org"]
    assert box.known == [LoginPassword(USER.encode(), PASSWORD.encode())]


@BOTH
@pytest.mark.parametrize("wrong", ["unknown authority", "another address", "ended"])
async def test_a_server_that_cannot_be_trusted_is_told_nothing(
    security: MailSecurity, wrong: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address, ends = ("127.0.0.2" if wrong == "another address" else HOST), (-LONG if wrong == "ended" else LONG)
    shown, box = Authority().written(tmp_path, address, ends), Letterbox()
    if wrong != "unknown authority":
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))
    async with listening(box, security, shown) as mailbox:
        with pytest.raises(MailUnavailable, match="certificate of the mail server is not trusted") as told:
            await mailbox.send(letter())
    assert PASSWORD not in str(told.value)
    assert (box.taken, box.known) == ([], [])


@BOTH
async def test_without_tls_neither_password_nor_message_is_sent(security: MailSecurity) -> None:
    box = Letterbox()
    async with listening(box, security, None) as mailbox:
        with pytest.raises(MailUnavailable, match="TLS"):
            await mailbox.send(letter())
    assert (box.taken, box.known) == ([], [])
