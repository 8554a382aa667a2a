"""Send the invitation as a mail while the inviter waits: the answer says whether the mail was accepted.

Anybody who signs up could send mail to anybody this way. So the mail holds only the name of their organisation, without
characters that could make an address of it, and each organisation can send only a few an hour.
"""

import re
from datetime import timedelta
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import formatdate
from typing import NamedTuple
from urllib.parse import urlencode
from uuid import UUID

from app.accounts.nouns.team import Invitation
from app.database.engine import Executor
from app.outgoing.mail import Mailbox, MailRefused, MailUnavailable
from app.quotas.storage import rates

EVERY, BURST = timedelta(minutes=3), 20
# A folded address does not work: lines have the full length that RFC 5322 allows. Any server accepts seven bits.
UNFOLDED = SMTP.clone(max_line_length=998, cte_type="7bit")
LONGEST_NAME = 60
TEXT = """You are invited to join "{organisation}" on Rubrica:

{link}

The link is good once, until {until}. If you do not know what this is about, ignore it: nothing happens.

邀请您加入 Rubrica 上的“{organisation}”。请打开上面的链接；链接仅可使用一次，{until} 前有效。如果您不清楚此事，请忽略本邮件。
"""
TOO_MANY = "your organisation has sent many invitations within the hour"


class MailOutcome(NamedTuple):
    """The outcome: whether the invitation went out by mail, and if not, `why`."""

    mailed: bool
    why: str = ""


class InvitationMail:
    """A sender of invitations from `mailbox`, where this deployment has one. Links lead to the page at `page`."""

    def __init__(self, trusted: Executor, mailbox: Mailbox | None, page: str) -> None:
        self._trusted = trusted
        self._mailbox = mailbox
        self._page = page

    async def post(self, organisation: UUID, name: str, invitation: Invitation, token: str) -> MailOutcome:
        """Send the invitation. The inviter has the token too, and hands it over if the mail fails."""
        if self._mailbox is None:
            return MailOutcome(False, "this installation sends no mail")
        taken = await rates.take(self._trusted, f"invitations of {organisation}", EVERY, BURST)
        if not taken.granted:
            return MailOutcome(False, TOO_MANY)
        try:
            await self._mailbox.send(compose_mail(invitation, token, name, self._mailbox.sender, self._page))
        except (MailUnavailable, MailRefused) as error:
            return MailOutcome(False, str(error))
        return MailOutcome(True)


def compose_mail(invitation: Invitation, token: str, organisation: str, sender: str, page: str) -> EmailMessage:
    """Return the mail. The standard library makes its headers and refuses line breaks in them."""
    mail = EmailMessage(policy=UNFOLDED)
    mail["From"] = sender
    mail["To"] = invitation.email
    mail["Subject"] = "An invitation to Rubrica / Rubrica 邀请"
    mail["Date"] = formatdate()
    mail["Message-ID"] = f"<{invitation.id}@{sender.rpartition('@')[2].strip('> ')}>"
    mail["Auto-Submitted"] = "auto-generated"
    link = f"{page.rstrip('/')}/sign-in?{urlencode({'form': 'join', 'token': token})}"
    until = f"{invitation.expires_at:%Y-%m-%d}"
    mail.set_content(TEXT.format(organisation=_clean_name(organisation), link=link, until=until))
    return mail


def _clean_name(name: str) -> str:
    """Return only letters and digits of any script, and blanks: no address, no line break, no markup."""
    return " ".join(re.sub(r"[\W_]+", " ", name).split())[:LONGEST_NAME] or "an organisation"
