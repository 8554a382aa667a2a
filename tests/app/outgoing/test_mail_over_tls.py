"""Mail over TLS, from the start and once connected, to a real server whose certificate is trusted, or is not."""

import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.message import EmailMessage
from ipaddress import ip_address
from pathlib import Path

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from app.outgoing.mail import Mailbox, MailUnavailable
from app.setting_values import MailSecurity
from infra.local.ports import find_free_port

HOST = "127.0.0.1"
USER, PASSWORD = "rubrica", "the mail's secret"
LONG, NOW = timedelta(days=1), datetime.now(UTC)
# TLS from the start is no TLS to the server, which begins to count after it.
pytestmark = pytest.mark.filterwarnings("ignore:Requiring AUTH while not requiring TLS:UserWarning")
BOTH = pytest.mark.parametrize("security", [MailSecurity.TLS, MailSecurity.STARTTLS])


@dataclass
class Authority:
    """Whoever signs certificates."""

    key: ec.EllipticCurvePrivateKey = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))

    def certificate(
        self, name: str, key: ec.EllipticCurvePrivateKey, address: str = "", ends: timedelta = LONG
    ) -> x509.Certificate:
        """A certificate for a server's address; for the authority itself without one."""
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        issuer = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Authority")])
        named = x509.SubjectAlternativeName([x509.IPAddress(ip_address(address))]) if address else None
        known = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
        signer = x509.AuthorityKeyIdentifier.from_issuer_public_key(self.key.public_key())
        made = x509.CertificateBuilder(issuer, subject, key.public_key(), x509.random_serial_number(), NOW - 2 * LONG, NOW + ends)
        made = made.add_extension(x509.BasicConstraints(ca=named is None, path_length=None), critical=True)
        made = made.add_extension(known, critical=False).add_extension(signer, critical=False)
        return (made.add_extension(named, critical=False) if named else made).sign(self.key, hashes.SHA256())

    def written(self, folder: Path, address: str = HOST, ends: timedelta = LONG) -> ssl.SSLContext:
        """What a server at this address shows; the authority's own certificate is in `ca.pem`."""
        key = ec.generate_private_key(ec.SECP256R1())
        (folder / "ca.pem").write_bytes(self.certificate("Authority", self.key).public_bytes(serialization.Encoding.PEM))
        shown = self.certificate("Mail", key, address, ends).public_bytes(serialization.Encoding.PEM)
        secret = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        (folder / "server.pem").write_bytes(shown + secret)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(folder / "server.pem")
        return context


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
