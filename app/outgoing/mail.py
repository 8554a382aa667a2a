"""Sending mail over SMTP."""

import ssl
from dataclasses import dataclass, field
from email.message import EmailMessage
from email.utils import parseaddr

from app.domain.errors import RubricaError
from app.settings import MailSecurity, Settings

PATIENCE_S = 40.0


class MailUnavailable(RubricaError):
    """The mail server is away, slow or busy; the same message may be taken later."""


class MailRefused(RubricaError):
    """The mail server will not take this message, now or later."""


@dataclass(frozen=True)
class Mailbox:
    """Where mail is handed in, within `patience_s` seconds. `link_base` is the address at which readers reach the API."""

    host: str
    port: int
    sender: str
    link_base: str
    security: MailSecurity
    user: str | None = None
    password: str | None = field(default=None, repr=False)
    patience_s: float = PATIENCE_S

    async def send(self, message: EmailMessage) -> None:
        """Hand in one message.

        Raises:
            MailUnavailable, MailRefused: it was not taken.
        """
        import aiosmtplib  # loaded with the first mail

        try:
            await aiosmtplib.send(
                message.as_bytes(),  # as it was made: given the message, the library would fold its headers
                sender=parseaddr(self.sender)[1],
                recipients=[str(message["To"])],
                hostname=self.host,
                port=self.port,
                username=self.user,
                password=self.password,
                use_tls=self.security is MailSecurity.TLS,
                start_tls=self.security is MailSecurity.STARTTLS,
                timeout=self.patience_s,
            )
        except aiosmtplib.SMTPRecipientsRefused as error:
            codes = {refusal.code for refusal in error.recipients}
            raise _refusal(min(codes), "the address is refused") from error
        except aiosmtplib.SMTPAuthenticationError as error:
            raise MailUnavailable(f"the mail server does not accept our credentials ({error.code})") from error
        except aiosmtplib.SMTPResponseException as error:
            raise _refusal(error.code, error.message) from error
        except (aiosmtplib.SMTPException, OSError, TimeoutError) as error:
            raise MailUnavailable(_trouble(error)) from error


def mailbox_of(settings: Settings) -> Mailbox | None:
    """The mailbox that the settings name, or None."""
    if settings.smtp_host is None or settings.smtp_from is None or settings.public_url is None:
        return None
    return Mailbox(
        host=settings.smtp_host,
        port=settings.smtp_port,
        sender=settings.smtp_from,
        link_base=settings.public_url,
        security=settings.smtp_security,
        user=settings.smtp_user,
        password=settings.smtp_password.get_secret_value() if settings.smtp_password else None,
    )


def _trouble(error: BaseException) -> str:
    """Why nothing could be handed in: TLS that cannot be had is not gone without."""
    causes = [error, *((error.__cause__,) if error.__cause__ else ())]
    for cause in causes:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return f"the certificate of the mail server is not trusted: {cause.verify_message}"
        if isinstance(cause, ssl.SSLError):
            return f"the mail server does not speak TLS as it should ({cause.reason}); see RUBRICA_SMTP_SECURITY"
    if "STARTTLS" in str(error):
        return "the mail server offers no TLS once connected; see RUBRICA_SMTP_SECURITY"
    return f"the mail server does not answer ({type(error).__name__})"


def _refusal(code: int, said: str) -> RubricaError:
    """Codes from 500 on are final (RFC 5321, 4.2.1). What the server says is shown to people, on one line."""
    told = f"the mail server said {code}: {' '.join(said.split())[:200]}"
    return MailRefused(told) if code >= 500 else MailUnavailable(told)
