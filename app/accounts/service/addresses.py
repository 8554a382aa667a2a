"""Prove that an address is somebody's, and set a forgotten password: both by a link that goes to that address only.

Without a mail server nobody can prove an address here: then `rubrica admin` does both, and an address that is not proved is
nobody's obstacle.
"""

import asyncio
import logging
from contextlib import suppress
from datetime import timedelta
from urllib.parse import urlencode
from uuid import UUID

import asyncpg

from app.accounts.nouns.token import digest_token, new_token
from app.accounts.service.attempts import Attempts
from app.accounts.service.letters import Letter, send_letter, take_turn
from app.accounts.service.passwords import Passwords
from app.accounts.service.policy import AccountPolicy
from app.accounts.service.recovery import end_access
from app.accounts.service.sign_in import NewSession, SignIn, check_strength
from app.accounts.storage import addresses, people
from app.accounts.storage.addresses import Purpose
from app.accounts.storage.people import Person
from app.audit import storage as audit
from app.audit.storage import Action
from app.database.tenancy import Tenant
from app.domain.errors import Conflict, Forbidden, InvalidInput, NotFound, TooManyRequests, Unavailable
from app.outgoing.mail import MailRefused, MailUnavailable

SUBJECTS = {
    Purpose.VERIFY: "Your e-mail address at Rubrica / 您在 Rubrica 的邮箱",
    Purpose.RESET: "A new password for Rubrica / Rubrica 新密码",
}
TEXTS = {
    Purpose.VERIFY: """Somebody signed up to Rubrica with this e-mail address. If it was you, open this link to confirm it:

{link}

The link is good once, for a day. If it was not you, ignore this mail.

有人用此邮箱注册了 Rubrica。如果是您本人，请打开上面的链接确认；链接一天内有效，仅可使用一次。如果不是您，请忽略本邮件。
""",
    Purpose.RESET: """Somebody asked for a new password for your account at Rubrica. If it was you, set one here:

{link}

The link is good once, for half an hour. If it was not you, ignore this mail: nothing changes.

有人要求为您的 Rubrica 账号设置新密码。
如果是您本人，请打开上面的链接设置；链接半小时内有效，仅可使用一次。
如果不是您，请忽略本邮件。
""",
}
FORMS = {Purpose.VERIFY: "verify", Purpose.RESET: "reset"}
VALID = {Purpose.VERIFY: timedelta(days=1), Purpose.RESET: timedelta(minutes=30)}
USED = "this link was used or is too old; ask for another"
NO_MAIL = "this installation sends no mail; its operator can do it with `rubrica admin`"
log = logging.getLogger(__name__)


class Addresses:
    """The use cases around a person's address.

    Raises:
        InvalidInput: a link was used or is too old.
        TooManyRequests: there were too many attempts.
        Unavailable: the database does not answer.
    """

    def __init__(self, trusted: asyncpg.Pool, policy: AccountPolicy, sign_in: SignIn, passwords: Passwords) -> None:
        self._trusted = trusted
        self._policy = policy
        self._sign_in = sign_in
        self._passwords = passwords
        self._attempts = Attempts(trusted)
        self._sending: set[asyncio.Task[None]] = set()

    async def require_verified(self, user: UUID) -> None:
        """Check that a person has proved their address, where this deployment sends mail.

        Raises:
            Forbidden: they have not.
        """
        if self._policy.mailbox is not None and not await addresses.is_verified(self._trusted, user):
            raise Forbidden("confirm your e-mail address first: open the link that was mailed to you, or ask for another")

    async def ask_to_verify(self, user: UUID) -> None:
        """Mail a person the link that proves their address, and wait until a server has taken it.

        Raises:
            NotFound: this deployment sends no mail.
            Conflict: the address is proved already, or the mail server refuses it.
        """
        person = await people.find_by_id(self._trusted, user)
        if self._policy.mailbox is None or person is None:
            raise NotFound(NO_MAIL)
        if await addresses.is_verified(self._trusted, user):
            raise Conflict("this address is confirmed already")
        await take_turn(self._trusted, person.email)
        try:
            await self._send(person, Purpose.VERIFY)
        except MailRefused as error:
            raise Conflict(str(error)) from error
        except MailUnavailable as error:
            raise Unavailable(str(error)) from error

    async def greet(self, signed: NewSession) -> None:
        """Have the link mailed to a person who has just signed up, unless their address is proved or was mailed to often."""
        user = signed.tenant.user
        person = await people.find_by_id(self._trusted, user) if user else None
        if self._policy.mailbox is None or person is None or await addresses.is_verified(self._trusted, person.id):
            return
        with suppress(TooManyRequests):  # a link is in the mail already, or can be asked for in a few minutes
            await take_turn(self._trusted, person.email)
            self.send_soon(person, Purpose.VERIFY)

    async def verify(self, token: str, address: str) -> None:
        """Use a link that proves an address."""
        await self._attempts.allow(address)
        user = await addresses.take_token(self._trusted, digest_token(token), Purpose.VERIFY)
        if user is None:
            raise InvalidInput(USED)
        await self._note_verified(user, address)

    async def ask_to_reset(self, email: str, address: str) -> None:
        """Mail a link for a new password, if the address has an account. Nobody learns whether it has: the mail goes later.

        Raises:
            NotFound: this deployment sends no mail.
        """
        if self._policy.mailbox is None:
            raise NotFound(NO_MAIL)
        await self._attempts.allow(address)
        await take_turn(self._trusted, email)
        if person := await people.find_by_email(self._trusted, email):
            self.send_soon(person, Purpose.RESET)

    async def reset(self, token: str, password: str, address: str) -> NewSession:
        """Set a new password by a link, which proves the address too. All that opened the account ends, and a session begins."""
        await self._attempts.allow(address)
        async with self._trusted.acquire() as connection, connection.transaction():
            user = await addresses.take_token(connection, digest_token(token), Purpose.RESET)
            person = await people.find_by_id(connection, user) if user else None
            if person is None:
                raise InvalidInput(USED)
            hashed = await self._passwords.hash(check_strength(password, person.email))
            await set_forgotten_password(connection, person, hashed, address)
        return await self._sign_in.enter(person, address)

    def send_soon(self, person: Person, purpose: Purpose) -> None:
        """Mail a link without letting anybody wait for it, where this deployment sends mail."""
        if self._policy.mailbox is not None:
            task = asyncio.create_task(self._try_to_send(person, purpose))
            self._sending.add(task)
            task.add_done_callback(self._sending.discard)

    async def _try_to_send(self, person: Person, purpose: Purpose) -> None:
        try:
            await self._send(person, purpose)
        except (MailUnavailable, MailRefused, Unavailable) as error:
            log.warning("a link (%s) could not be mailed to %s: %s", purpose, person.id, error)

    async def _send(self, person: Person, purpose: Purpose) -> None:
        assert self._policy.mailbox is not None
        token = new_token()
        await addresses.add_token(self._trusted, digest_token(token), person.id, purpose, VALID[purpose])
        page = (self._policy.page_url or self._policy.public_url).rstrip("/")
        link = f"{page}/sign-in?{urlencode({'form': FORMS[purpose], 'token': token})}"
        await send_letter(self._policy.mailbox, Letter(person.email, SUBJECTS[purpose], TEXTS[purpose].format(link=link)))

    async def _note_verified(self, user: UUID, address: str) -> None:
        async with self._trusted.acquire() as connection, connection.transaction():
            await addresses.verify(connection, user)
            for place in await people.list_organisations(connection, user):
                await audit.record(connection, Action.ADDRESS_VERIFIED, user, by=Tenant(place.id, user, None, address))


async def set_forgotten_password(
    connection: asyncpg.pool.PoolConnectionProxy | asyncpg.Connection, person: Person, hashed: str, address: str
) -> None:
    """Give a person who has shown that the address is theirs a new password; all that opened the account before ends."""
    await end_access(connection, person.id, address, Action.PASSWORD_RESET)
    await people.set_password(connection, person.id, hashed)
    await addresses.verify(connection, person.id)
