"""Send mail over SMTP."""

import ssl
from dataclasses import dataclass, field
from email.message import EmailMessage
from email.utils import parseaddr

from app.domain.errors import RubricaError
from app.setting_values import MailSecurity
from app.settings import Settings

PATIENCE_S = 40.0


class MailUnavailable(RubricaError):
    """The mail server is away, slow or busy; it may accept the same message later."""


class MailRefused(RubricaError):
    """The mail server will not accept this message, now or later."""


@dataclass(frozen=True)
class Mailbox:
    """The mail server and its sender; `patience_s` limits each sending. `link_base` is the API's address for readers."""

    host: str
    port: int
    sender: str
    link_base: str
    security: MailSecurity
    user: str | None = None
    password: str | None = field(default=None, repr=False)
    patience_s: float = PATIENCE_S

    async def send(self, message: EmailMessage) -> None:
        """Send one message.

        Raises:
            MailUnavailable, MailRefused: the server did not accept it.
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
            raise _refusal_of(min(codes), "the address is refused") from error
        except aiosmtplib.SMTPAuthenticationError as error:
            raise MailUnavailable(f"the mail server does not accept our credentials ({error.code})") from error
        except aiosmtplib.SMTPResponseException as error:
            raise _refusal_of(error.code, error.message) from error
        except (aiosmtplib.SMTPException, OSError, TimeoutError) as error:
            raise MailUnavailable(_explain_trouble(error)) from error


def mailbox_of(settings: Settings) -> Mailbox | None:
    """Return the mailbox that the settings name, or None."""
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


def _explain_trouble(error: BaseException) -> str:
    """Return why nothing could be sent: without TLS that is required, nothing is."""
    for cause in (error, error.__cause__):
        if isinstance(cause, ssl.SSLCertVerificationError):
            return f"the certificate of the mail server is not trusted: {cause.verify_message}"
        if isinstance(cause, ssl.SSLError):
            return f"the mail server does not speak TLS as it should ({cause.reason}); see RUBRICA_SMTP_SECURITY"
    if "STARTTLS" in str(error):
        return "the mail server offers no TLS once connected; see RUBRICA_SMTP_SECURITY"
    return f"the mail server does not answer ({type(error).__name__})"


def _refusal_of(code: int, said: str) -> RubricaError:
    """Return the error of a refusal: codes from 500 on are final (RFC 5321, 4.2.1). The server's words are shown on one line."""
    told = f"the mail server said {code}: {' '.join(said.split())[:200]}"
    return MailRefused(told) if code >= 500 else MailUnavailable(told)
