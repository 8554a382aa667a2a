"""Sign in with an identity provider: the code flow with PKCE, a state bound to the browser, and a nonce."""

import hmac
from typing import NamedTuple
from uuid import UUID, uuid4

import asyncpg

from app.accounts.nouns.access import Role
from app.accounts.nouns.token import digest_token, new_token
from app.accounts.service.attempts import Attempts
from app.accounts.service.policy import AccountPolicy
from app.accounts.service.provider import IdentityClaims, ProviderClient, SignInFailure, SignInRefused
from app.accounts.service.recovery import end_access
from app.accounts.service.sign_in import NewSession, SignIn, join, store_person
from app.accounts.storage import addresses, oidc, people
from app.accounts.storage import invitations as invited
from app.accounts.storage import organisations as accounts
from app.accounts.storage.oidc import Flow
from app.accounts.storage.people import Person
from app.audit import storage as audit
from app.audit.storage import Action
from app.database.tenancy import Tenant
from app.domain.errors import Forbidden, NotFound

CALLBACK = "/v1/oidc/callback"
NO_FLOW = "this sign-in took too long, or was begun in another browser; begin again"
CLOSED = "you have no account here; ask for an invitation"


class Departure(NamedTuple):
    """The address that the browser goes to, and the state that it must bring back in a cookie."""

    url: str
    state: str


class OpenIdConnect:
    """The use cases of an identity provider.

    Raises:
        NotFound: this deployment has none.
        NotLetIn: what came back proves nothing.
        Unavailable: the provider or the database does not answer.
    """

    def __init__(self, trusted: asyncpg.Pool, policy: AccountPolicy, sign_in: SignIn) -> None:
        self._trusted = trusted
        self._policy = policy
        self._sign_in = sign_in
        self._attempts = Attempts(trusted)
        self._client = ProviderClient(policy.provider, policy.public_url + CALLBACK) if policy.provider else None

    async def begin(self, address: str) -> Departure:
        """Begin a sign-in; return the provider's address and the state."""
        client = self._require_client()
        await self._attempts.allow(address)
        state, flow = new_token(), Flow(new_token(), new_token())
        url = await client.build_entrance(state, flow)
        await oidc.begin(self._trusted, digest_token(state), flow, self._policy.flow_valid)
        return Departure(url, state)

    async def finish(self, state: str, kept: str, code: str, address: str) -> NewSession:
        """Sign in the person who comes back. `kept` is the state in the browser's cookie.

        Raises:
            Forbidden: they have no account, no invitation, and sign-up is closed.
        """
        client = self._require_client()
        if not kept or not hmac.compare_digest(state.encode(), kept.encode()):
            raise SignInRefused(SignInFailure.LATE, NO_FLOW)
        flow = await oidc.end(self._trusted, digest_token(state))
        if flow is None:
            raise SignInRefused(SignInFailure.LATE, NO_FLOW)
        claims = await client.fetch_claims(code, flow)
        person, invited_to = await self._find_or_make(claims, address)
        return await self._sign_in.enter(person, address, invited_to)

    async def _find_or_make(self, claims: IdentityClaims, address: str) -> tuple[Person, UUID | None]:
        """Return their account: found by the provider's identity or by e-mail address, or a new one where that is allowed.

        A person who is a member nowhere joins by their invitations; the second value is the organisation they joined, if any.
        """
        async with self._trusted.acquire() as connection, connection.transaction():
            found = await people.find_by_identity(connection, claims.issuer, claims.subject)
            found = found or await people.find_by_email(connection, claims.email)
            person = found or Person(uuid4(), claims.email, claims.name, None)
            # Anybody can invite a member of another organisation: only that person decides whether they join.
            member = bool(await people.list_organisations(connection, person.id))
            offers = [] if member else await invited.take_all_for(connection, claims.email)
            if found is None and not offers and not self._policy.sign_up:
                raise Forbidden(CLOSED)
            await store_person(connection, person)
            if person.password_hash is not None and not await addresses.is_verified(connection, person.id):
                # Its setter never proved that the address is theirs; the person who signs in now has (ADR 0033).
                await people.remove_password(connection, person.id)
                await end_access(connection, person.id, address, Action.PASSWORD_TAKEN)
            await people.link(connection, claims.issuer, claims.subject, person.id)
            await addresses.verify(connection, person.id)
            for offer in offers:
                await join(connection, person, offer, address)
            if found is None and not offers:
                made = uuid4()
                await accounts.ensure_organisation(connection, made, claims.name)
                await accounts.ensure_membership(connection, made, person.id, Role.OWNER)
                await audit.record(connection, Action.SIGNED_UP, person.id, by=Tenant(made, person.id, None, address))
        return person, offers[0].organisation if offers else None

    def _require_client(self) -> ProviderClient:
        if self._client is None:
            raise NotFound("this deployment has no identity provider; sign in with a password")
        return self._client
