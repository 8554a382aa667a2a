"""Send the invitation as a mail while the inviter waits: the answer says whether the mail was accepted.

Anybody who signs up could send mail to anybody this way. So the mail holds only the name of their organisation, without
characters that could make an address of it, each organisation can send only a few an hour, and an address gets only a few.
"""

import re
from datetime import timedelta
from typing import NamedTuple
from urllib.parse import urlencode
from uuid import UUID

from app.accounts.nouns.team import Invitation
from app.accounts.service import letters
from app.accounts.service.letters import Letter, send_letter
from app.accounts.storage import addresses
from app.database.engine import Executor
from app.domain.errors import TooManyRequests
from app.outgoing.mail import Mailbox, MailRefused, MailUnavailable
from app.quotas.storage import rates

EVERY, BURST = timedelta(minutes=3), 20
LONGEST_NAME = 60
TEXT = """You are invited to join "{organisation}" on Rubrica:

{link}

The link is good once, until {until}. If you do not know what this is about, ignore it: nothing happens.

邀请您加入 Rubrica 上的“{organisation}”。请打开上面的链接；链接仅可使用一次，{until} 前有效。如果您不清楚此事，请忽略本邮件。
"""
TOO_MANY = "your organisation has sent many invitations within the hour; wait a few minutes, then invite again"


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

    async def take_turn(self, organisation: UUID, address: str) -> None:
        """Count one more invitation that `organisation` mails, and that goes to `address`. Without a mailbox nothing is counted.

        Raises:
            TooManyRequests: it has mailed many within the hour, or the address got several within minutes.
        """
        if self._mailbox is None:
            return
        taken = await rates.take(self._trusted, f"invitations of {organisation}", EVERY, BURST)
        # An invitation that is not mailed shows its token: who sends many must not get tokens of other people's addresses.
        if not taken.granted:
            raise TooManyRequests(TOO_MANY, taken.wait)
        await letters.take_turn(self._trusted, address, "invitation")

    async def post(self, name: str, invitation: Invitation, token: str) -> MailOutcome:
        """Send the invitation. Then only the invited address has the token; if it fails, the inviter hands the token over."""
        if self._mailbox is None:
            return MailOutcome(False, "this installation sends no mail")
        try:
            await send_letter(self._mailbox, compose_letter(invitation, token, name, self._page))
        except (MailUnavailable, MailRefused) as error:
            return MailOutcome(False, str(error))
        await addresses.note_mailed(self._trusted, invitation.id)
        return MailOutcome(True)


def compose_letter(invitation: Invitation, token: str, organisation: str, page: str) -> Letter:
    """Return the letter."""
    link = f"{page.rstrip('/')}/sign-in?{urlencode({'form': 'join', 'token': token})}"
    text = TEXT.format(organisation=_clean_name(organisation), link=link, until=f"{invitation.expires_at:%Y-%m-%d}")
    return Letter(invitation.email, "An invitation to Rubrica / Rubrica 邀请", text)


def _clean_name(name: str) -> str:
    """Return only letters and digits of any script, and blanks: no address, no line break, no markup."""
    return " ".join(re.sub(r"[\W_]+", " ", name).split())[:LONGEST_NAME] or "an organisation"
