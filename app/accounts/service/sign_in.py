"""Sign up, in and out."""

from collections.abc import Collection
from typing import NamedTuple
from uuid import UUID, uuid4

import asyncpg

from app.accounts.nouns.access import Role
from app.accounts.nouns.access_list import AccessItem
from app.accounts.nouns.team import Organisation
from app.accounts.nouns.token import digest_token, new_token
from app.accounts.service.attempts import Attempts
from app.accounts.service.passwords import Passwords
from app.accounts.service.policy import AccountPolicy
from app.accounts.service.recovery import end_access
from app.accounts.storage import access, addresses, people, sessions
from app.accounts.storage import invitations as invited
from app.accounts.storage import organisations as accounts
from app.accounts.storage.people import Person
from app.audit import storage as audit
from app.audit.storage import Action
from app.database.tenancy import Tenant
from app.domain.errors import Conflict, Forbidden, InvalidInput, Unauthenticated

WRONG_CREDENTIALS = "the e-mail address or the password is wrong"
NO_INVITATION = "this invitation was used, taken back, or is too old; ask for another"
SIGN_IN_FIRST = "sign in with your identity provider again, and set a password within ten minutes"
NO_MEMBER_HERE = "you are no member of this organisation"


class NewSession(NamedTuple):
    """A new session: its token, which only the browser gets, and its owner."""

    token: str
    tenant: Tenant


class SignIn:
    """The use cases before the caller is known; all of them use the trusted connection.

    Raises:
        Unauthenticated: what was given proves nothing. Which part was wrong is not told.
        TooManyRequests: there were too many attempts.
        Unavailable: the database does not answer.
    """

    def __init__(self, trusted: asyncpg.Pool, policy: AccountPolicy, passwords: Passwords) -> None:
        self._trusted = trusted
        self._policy = policy
        self._passwords = passwords
        self._attempts = Attempts(trusted)

    async def enter_with_password(self, email: str, password: str, address: str, organisation: UUID | None = None) -> NewSession:
        """Sign in to the organisation named, or to the one that was joined first."""
        person = await self.check_password(email, password, address)
        return await self.enter(person, address, organisation)

    async def sign_up(self, organisation: str, email: str, name: str, password: str, address: str) -> NewSession:
        """Make an organisation. A person who has an account proves it with its password.

        Raises:
            Forbidden: this deployment makes organisations only by hand.
            Conflict: somebody else takes the address at the same moment.
        """
        if not self._policy.sign_up:
            raise Forbidden("this deployment is not open for sign-up; ask its operator for an invitation")
        await self._attempts.allow(address)
        person = await self._find_or_make(email, name, password, address)
        made = uuid4()
        by = Tenant(made, person.id, None, address)
        async with self._trusted.acquire() as connection, connection.transaction():
            await store_person(connection, person)
            await accounts.ensure_organisation(connection, made, organisation)
            await accounts.ensure_membership(connection, made, person.id, Role.OWNER)
            await audit.record(connection, Action.SIGNED_UP, person.id, by=by)
        return await self.enter(person, address, made)

    async def accept(self, token: str, name: str, password: str, address: str) -> NewSession:
        """Join by an invitation: with a new account or, by its password, with the existing account of the invited address.

        Raises:
            InvalidInput: it was used, taken back, or is too old.
            Conflict: somebody else takes the address at the same moment.
        """
        await self._attempts.allow(address)
        offer = await invited.find_offer(self._trusted, digest_token(token))
        if offer is None:
            raise InvalidInput(NO_INVITATION)
        person = await self._find_or_make(offer.email, name, password, address)
        async with self._trusted.acquire() as connection, connection.transaction():
            if await invited.take(connection, digest_token(token)) is None:
                raise InvalidInput(NO_INVITATION)
            await store_person(connection, person)
            await join(connection, person, offer, address)
            if offer.mailed:
                await addresses.verify(connection, person.id)
        return await self.enter(person, address, offer.organisation)

    async def enter(self, person: Person, address: str, organisation: UUID | None = None) -> NewSession:
        """Open a session for a person who has proved who they are.

        Raises:
            Forbidden: they are not a member there.
        """
        where = await self._find_place(person, organisation)
        by = Tenant(where.id, person.id, None, address)
        token = new_token()
        async with self._trusted.acquire() as connection, connection.transaction():
            await sessions.forget(connection, self._policy.session_idle)
            await sessions.open_(connection, digest_token(token), where.id, person.id, self._policy.session_lifetime, address)
            await audit.record(connection, Action.SIGNED_IN, person.id, by=by)
        return NewSession(token, by)

    async def sign_out(self, token: str, by: Tenant) -> None:
        """End a session."""
        async with self._trusted.acquire() as connection, connection.transaction():
            await sessions.close(connection, digest_token(token))
            await audit.record(connection, Action.SIGNED_OUT, by.user or "", by=by)

    async def renew(self, token: str) -> str | None:
        """Return a new token for a session whose token is old, or None. Both are good until the session ends."""
        new, old = new_token(), digest_token(token)
        return new if await sessions.renew(self._trusted, old, digest_token(new), self._policy.session_renewal) else None

    async def list_access(self, by: Tenant, token: str = "") -> list[AccessItem]:
        """List what the caller's account has open, with the session (`token`) or the key of the request."""
        assert by.user is not None
        return await access.list_access(self._trusted, by.user, digest_token(token), by.key, self._policy.session_idle)

    async def change_password(
        self, current: str, new: str, by: Tenant, token: str = "", keep: Collection[UUID] = ()
    ) -> NewSession:
        """Replace the caller's own password, and end what the account has open, but what is to be kept and a key of the request.

        The caller's session ends too, and a new one begins.

        A person without a password, who signs in by an identity provider, must show a session (`token`) that began just now.
        """
        assert by.user is not None
        person = await people.find_by_id(self._trusted, by.user)
        assert person is not None
        if person.password_hash is not None:
            await self.check_password(person.email, current, by.address)
        elif by.key or not await sessions.is_recent(self._trusted, digest_token(token), person.id, self._policy.just_now):
            raise Unauthenticated(SIGN_IN_FIRST)
        hashed = await self._passwords.hash(check_strength(new, person.email))
        here = {item.id for item in await self.list_access(by, token) if item.current}
        async with self._trusted.acquire() as connection, connection.transaction():
            await end_access(connection, person.id, by.address, Action.PASSWORD_CHANGED, {*keep, *here}, by.key)
            await sessions.close(connection, digest_token(token))
            await people.set_password(connection, person.id, hashed)
        return await self.enter(person, by.address, by.organisation)

    async def _find_place(self, person: Person, organisation: UUID | None) -> Organisation:
        places = await people.list_organisations(self._trusted, person.id)
        found = next((place for place in places if organisation in (None, place.id)), None)
        if found is None:
            raise Forbidden(NO_MEMBER_HERE if organisation else "you are in no organisation any more; ask for an invitation")
        return found

    async def _find_or_make(self, email: str, name: str, password: str, address: str) -> Person:
        """Return the person of an address after checking the password; a new person, not stored yet, for a new address.

        The attempt was allowed from the network address already: a second one would find the last of a limit used up.
        """
        if await people.find_by_email(self._trusted, email):
            await self._attempts.allow_on(email, address)
            return await self._prove(email, password, address)
        return Person(uuid4(), email, name, await self._passwords.hash(check_strength(password, email)))

    async def check_password(self, email: str, password: str, address: str) -> Person:
        """Return the person whose address and password these are."""
        await self._attempts.allow(address, email)
        return await self._prove(email, password, address)

    async def _prove(self, email: str, password: str, address: str) -> Person:
        person = await people.find_by_email(self._trusted, email)
        if not await self._passwords.fits(person.password_hash if person else None, password):
            if person:
                await self._note_failure(person, address)
            raise Unauthenticated(WRONG_CREDENTIALS)
        assert person is not None
        assert person.password_hash is not None
        if self._passwords.is_dated(person.password_hash):
            await people.set_password(self._trusted, person.id, await self._passwords.hash(password))
        return person

    async def _note_failure(self, person: Person, address: str) -> None:
        """Record the failure in the audit logs of the person's organisations."""
        for place in await people.list_organisations(self._trusted, person.id):
            by = Tenant(place.id, None, None, address)
            await audit.record(self._trusted, Action.SIGN_IN_FAILED, person.id, by=by)


async def store_person(connection: asyncpg.pool.PoolConnectionProxy, person: Person) -> None:
    """Store a person, unless they are stored already.

    Raises:
        Conflict: the address was taken meanwhile, for example by a form that was sent twice.
    """
    if not await people.add(connection, person) and await people.find_by_id(connection, person.id) is None:
        raise Conflict("an account was made for this address just now; sign in with it")


async def join(
    connection: asyncpg.pool.PoolConnectionProxy, person: Person, offer: invited.InvitationOffer, address: str
) -> None:
    """Make a person a member as an invitation says. A member keeps their role."""
    await accounts.ensure_membership(connection, offer.organisation, person.id, offer.role)
    by = Tenant(offer.organisation, person.id, None, address)
    await audit.record(connection, Action.MEMBER_JOINED, person.id, {"role": offer.role}, by=by)


def check_strength(password: str, email: str) -> str:
    """Return the password if it is hard enough to guess.

    Raises:
        InvalidInput: it is too easy to guess.
    """
    if password.lower() in (email, email.partition("@")[0]) or len(set(password)) < 4:
        raise InvalidInput("this password is too easy to guess; use several words that only you would put together")
    return password
