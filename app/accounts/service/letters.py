"""Compose the letters that go to one person's address: plain text in English and Chinese, with one link."""

from datetime import timedelta
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import formatdate
from typing import NamedTuple
from uuid import uuid4

from app.accounts.service.attempts import digest_email
from app.database.engine import Executor
from app.domain.errors import TooManyRequests
from app.outgoing.mail import Mailbox
from app.quotas.storage import rates

EVERY, BURST = timedelta(minutes=5), 3
# A folded address does not work: lines have the full length that RFC 5322 allows. Any server accepts seven bits.
UNFOLDED = SMTP.clone(max_line_length=998, cte_type="7bit")


class Letter(NamedTuple):
    """A letter to one address."""

    to: str
    subject: str
    text: str


async def send_letter(mailbox: Mailbox, letter: Letter) -> None:
    """Send a letter. The standard library makes its headers and refuses line breaks in them.

    Raises:
        MailUnavailable, MailRefused: the server did not accept it.
    """
    mail = EmailMessage(policy=UNFOLDED)
    mail["From"] = mailbox.sender
    mail["To"] = letter.to
    mail["Subject"] = letter.subject
    mail["Date"] = formatdate()
    mail["Message-ID"] = f"<{uuid4()}@{mailbox.sender.rpartition('@')[2].strip('> ')}>"
    mail["Auto-Submitted"] = "auto-generated"
    mail.set_content(letter.text)
    await mailbox.send(mail)


async def take_turn(trusted: Executor, address: str, about: str = "link") -> None:
    """Count one more letter to an address, whether or not it has an account, so that nobody is flooded with mail.

    Raises:
        TooManyRequests: it got several within minutes.
    """
    subject = f"{about} to {digest_email(address)}"
    taken = await rates.take(trusted, subject, EVERY, BURST)
    if not taken.granted:
        raise TooManyRequests("this address was mailed to several times; look into its mail, or wait a while", taken.wait)
