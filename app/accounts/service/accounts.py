"""Put all use cases of accounts together."""

from collections.abc import Collection
from typing import Self
from uuid import UUID

import asyncpg

from app.accounts.nouns.access import SCOPES_OF_ROLE, AccessScope
from app.accounts.nouns.team import Me
from app.accounts.service.addresses import Addresses
from app.accounts.service.invitation_mail import InvitationMail
from app.accounts.service.keys import Keys
from app.accounts.service.oidc import OpenIdConnect
from app.accounts.service.passwords import Passwords
from app.accounts.service.personal import PersonalData
from app.accounts.service.policy import AccountPolicy
from app.accounts.service.sign_in import SignIn
from app.accounts.service.team import Team
from app.accounts.storage import addresses, people
from app.audit.service import AuditLog
from app.database.tenancy import TenantDatabase
from app.domain.errors import NotFound
from app.quotas.service import Limits
from app.retention.service.retention import Retentions


class Accounts:
    """The use cases of accounts, and the details of the caller."""

    def __init__(
        self,
        tenants: TenantDatabase,
        trusted: asyncpg.Pool,
        policy: AccountPolicy,
        sign_in: SignIn,
        team: Team,
        keys: Keys,
        limits: Limits,
        retention: Retentions,
        personal: PersonalData,
        oidc: OpenIdConnect,
        addresses: Addresses,
    ) -> None:
        self.audit = AuditLog(tenants)
        self.invitation_mail = InvitationMail(trusted, policy.mailbox, policy.page_url or policy.public_url)
        self._trusted = trusted
        self.policy = policy
        self.sign_in = sign_in
        self.team = team
        self.keys = keys
        self.limits = limits
        self.retention = retention
        self.personal = personal
        self.oidc = oidc
        self.addresses = addresses

    @classmethod
    def new(cls, tenants: TenantDatabase, trusted: asyncpg.Pool, policy: AccountPolicy) -> Self:
        """Build the use cases over the two connections."""
        passwords, limits = Passwords(), Limits(tenants, trusted, policy.most)
        sign_in = SignIn(trusted, policy, passwords)
        return cls(
            tenants,
            trusted,
            policy,
            sign_in,
            Team(tenants, policy),
            Keys(tenants),
            limits,
            Retentions(tenants),
            PersonalData(trusted, sign_in),
            OpenIdConnect(trusted, policy, sign_in),
            Addresses(trusted, policy, sign_in, passwords),
        )

    async def get_me(
        self, organisation: UUID, user: UUID, scopes: Collection[AccessScope] | None = None, key_id: UUID | None = None
    ) -> Me:
        """Return who asks, their organisations, and what they may do: by default all that their role allows.

        Raises:
            NotFound: the account was deleted since the request began.
        """
        person = await people.find_by_id(self._trusted, user)
        places = await people.list_organisations(self._trusted, user)
        here = next((place for place in places if place.id == organisation), None)
        if person is None or here is None:
            raise NotFound("this account is not there any more")
        may = tuple(sorted(SCOPES_OF_ROLE[here.role] if scopes is None else scopes))
        return Me(
            user_id=person.id,
            email=person.email,
            name=person.name,
            organisation=here,
            organisations=tuple(places),
            scopes=may,
            key_id=key_id,
            verified=await addresses.is_verified(self._trusted, user),
            has_password=person.password_hash is not None,
        )
