"""Organisations, people and keys, as Alembic reads them."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import (
    ARRAY,
    JSON,
    BigInteger,
    CheckConstraint,
    ForeignKeyConstraint,
    Index,
    LargeBinary,
    Text,
    UniqueConstraint,
    text,
)
from sqlmodel import Field, SQLModel

from app.accounts.nouns.access import Role
from app.database.tables.columns import ACTING_KEY, EMPTY, NEW_ID, NOW, OWNER_OF_ROW, TIME, UNLOGGED
from app.database.tables.protection import KEY, USER, for_worker_only, own_rows, visible_rows


class OrganisationRow(SQLModel, table=True):
    """Whose rows no other sees."""

    __tablename__ = "organisations"
    __table_args__ = visible_rows("id = current_organisation()", "SELECT, UPDATE")
    id: UUID = Field(primary_key=True)
    name: str = Field(sa_type=Text)
    created_at: datetime = Field(sa_type=TIME, sa_column_kwargs=NOW)


class UserRow(SQLModel, table=True):
    """A person, in one or more organisations. Without a password they sign in by their organisation's identity provider.

    `verified_at`: since then their address is known to be theirs.
    """

    __tablename__ = "users"
    __table_args__ = (
        UniqueConstraint("email", name="users_email"),
        visible_rows(
            "EXISTS (SELECT FROM memberships m WHERE m.user_id = users.id)", "SELECT (id, email, name, created_at, verified_at)"
        ),
    )
    id: UUID = Field(primary_key=True)
    email: str = Field(sa_type=Text)
    name: str = Field(sa_type=Text, sa_column_kwargs=EMPTY)
    password_hash: str | None = Field(sa_type=Text, nullable=True)
    created_at: datetime = Field(sa_type=TIME, sa_column_kwargs=NOW)
    verified_at: datetime | None = Field(sa_type=TIME, nullable=True)


class AddressTokenRow(SQLModel, table=True):
    """A link that was mailed to a person, to prove the address or to set a new password: good once, for a while."""

    __tablename__ = "address_tokens"
    __table_args__ = (
        CheckConstraint("purpose IN ('verify', 'reset')", name="address_tokens_purpose"),
        Index("address_tokens_of_user", "user_id", "purpose"),
        for_worker_only(),
    )
    token_hash: bytes = Field(primary_key=True, sa_type=LargeBinary)
    user_id: UUID = Field(foreign_key="users.id", ondelete="CASCADE")
    purpose: str = Field(sa_type=Text)
    expires_at: datetime = Field(sa_type=TIME)


class MembershipRow(SQLModel, table=True):
    """What a person is in an organisation."""

    __tablename__ = "memberships"
    __table_args__ = (
        CheckConstraint(f"role IN ({', '.join(repr(role.value) for role in Role)})", name="memberships_role"),
        Index("memberships_of_user", "user_id"),
        own_rows("SELECT, UPDATE (role), DELETE", changed="may_give(role)"),
    )
    organisation_id: UUID = Field(
        primary_key=True, foreign_key="organisations.id", ondelete="CASCADE", sa_column_kwargs=OWNER_OF_ROW
    )
    user_id: UUID = Field(primary_key=True, foreign_key="users.id", ondelete="CASCADE")
    role: str = Field(sa_type=Text)
    joined_at: datetime = Field(sa_type=TIME, sa_column_kwargs=NOW)


class ApiKeyRow(SQLModel, table=True):
    """A key acts for the member who made it, and goes with them. `secret_hash` is a SHA-256, `made_by` the key that made it."""

    __tablename__ = "api_keys"
    __table_args__ = (
        ForeignKeyConstraint(
            ["organisation_id", "user_id"], ["memberships.organisation_id", "memberships.user_id"], ondelete="CASCADE"
        ),
        Index("api_keys_of_organisation", "organisation_id", "user_id"),
        own_rows(
            "INSERT, UPDATE (name, revoked_at), DELETE, SELECT (id, organisation_id, user_id, name, scopes, created_at, "
            "expires_at, revoked_at, last_used_at, made_by)"
        ),
    )
    id: UUID = Field(primary_key=True)
    organisation_id: UUID = Field(foreign_key="organisations.id", ondelete="CASCADE", sa_column_kwargs=OWNER_OF_ROW)
    user_id: UUID = Field()
    name: str = Field(sa_type=Text)
    secret_hash: bytes = Field(sa_type=LargeBinary)
    scopes: list[str] = Field(sa_type=ARRAY(Text))
    created_at: datetime = Field(sa_type=TIME, sa_column_kwargs=NOW)
    expires_at: datetime | None = Field(sa_type=TIME, nullable=True)
    revoked_at: datetime | None = Field(sa_type=TIME, nullable=True)
    last_used_at: datetime | None = Field(sa_type=TIME, nullable=True)
    made_by: UUID | None = Field(sa_column_kwargs=ACTING_KEY)


class SessionRow(SQLModel, table=True):
    """A browser that is signed in. `token_hash` is a SHA-256; `renewed_at` is when its token was last exchanged.

    `address` is the network address that it signed in from.
    """

    __tablename__ = "sessions"
    __table_args__ = (
        ForeignKeyConstraint(
            ["organisation_id", "user_id"], ["memberships.organisation_id", "memberships.user_id"], ondelete="CASCADE"
        ),
        Index("sessions_of_user", "user_id"),
        Index("sessions_of_organisation", "organisation_id", "user_id"),
        own_rows("DELETE, SELECT (organisation_id, user_id, created_at, seen_at, expires_at)"),
    )
    token_hash: bytes = Field(primary_key=True, sa_type=LargeBinary)
    organisation_id: UUID = Field(foreign_key="organisations.id", ondelete="CASCADE", sa_column_kwargs=OWNER_OF_ROW)
    user_id: UUID = Field()
    created_at: datetime = Field(sa_type=TIME, sa_column_kwargs=NOW)
    renewed_at: datetime = Field(sa_type=TIME, sa_column_kwargs=NOW)
    seen_at: datetime = Field(sa_type=TIME, sa_column_kwargs=NOW)
    expires_at: datetime = Field(sa_type=TIME)
    address: str = Field(sa_type=Text, sa_column_kwargs=EMPTY)


class InvitationRow(SQLModel, table=True):
    """Good for one person, once, for a while; it goes when it is accepted. `mailed`: only the invited address has its token."""

    __tablename__ = "invitations"
    __table_args__ = (
        CheckConstraint(f"role IN ({', '.join(repr(role.value) for role in Role)})", name="invitations_role"),
        UniqueConstraint("token_hash", name="invitations_token"),
        UniqueConstraint("organisation_id", "email", name="invitations_email"),
        own_rows(
            "INSERT, DELETE, SELECT (id, organisation_id, email, role, invited_by, created_at, expires_at)",
            added=f"invited_by = {USER} AND may_give(role)",
        ),
    )
    id: UUID = Field(primary_key=True)
    organisation_id: UUID = Field(foreign_key="organisations.id", ondelete="CASCADE", sa_column_kwargs=OWNER_OF_ROW)
    email: str = Field(sa_type=Text)
    role: str = Field(sa_type=Text)
    token_hash: bytes = Field(sa_type=LargeBinary)
    invited_by: UUID | None = Field(foreign_key="users.id", ondelete="SET NULL")
    created_at: datetime = Field(sa_type=TIME, sa_column_kwargs=NOW)
    expires_at: datetime = Field(sa_type=TIME)
    mailed: bool = Field(sa_column_kwargs={"server_default": "false"})


class IdentityRow(SQLModel, table=True):
    """Who a person is to an identity provider."""

    __tablename__ = "identities"
    __table_args__ = (Index("identities_of_user", "user_id"), for_worker_only())
    issuer: str = Field(primary_key=True, sa_type=Text)
    subject: str = Field(primary_key=True, sa_type=Text)
    user_id: UUID = Field(foreign_key="users.id", ondelete="CASCADE")
    created_at: datetime = Field(sa_type=TIME, sa_column_kwargs=NOW)


class OidcFlowRow(SQLModel, table=True):
    """A sign-in on its way to the identity provider and back."""

    __tablename__ = "oidc_flows"
    __table_args__ = for_worker_only()
    state_hash: bytes = Field(primary_key=True, sa_type=LargeBinary)
    nonce: str = Field(sa_type=Text)
    verifier: str = Field(sa_type=Text)
    expires_at: datetime = Field(sa_type=TIME)


class RateBucketRow(SQLModel, table=True):
    """When a bucket of tokens will be full."""

    __tablename__ = "rate_buckets"
    __table_args__ = for_worker_only() | UNLOGGED | {"postgresql_with": {"fillfactor": 20}}
    subject: str = Field(primary_key=True, sa_type=Text)
    full_at: datetime = Field(sa_type=TIME)


class AuditRow(SQLModel, table=True):
    """Who did what to what, when and from where. The API may add to it and read it, and no more."""

    __tablename__ = "audit"
    __table_args__ = (
        Index("audit_newest_first", "organisation_id", text("at DESC"), text("id DESC")),
        own_rows(
            "SELECT, INSERT (organisation_id, user_id, key_id, address, action, subject, detail)",
            added=f"user_id IS NOT DISTINCT FROM {USER} AND key_id IS NOT DISTINCT FROM {KEY}",
        ),
    )
    id: UUID = Field(primary_key=True, sa_column_kwargs=NEW_ID)
    organisation_id: UUID = Field(foreign_key="organisations.id", ondelete="CASCADE", sa_column_kwargs=OWNER_OF_ROW)
    at: datetime = Field(sa_type=TIME, sa_column_kwargs={"server_default": text("clock_timestamp()")})
    user_id: UUID | None = Field(foreign_key="users.id", ondelete="SET NULL")
    key_id: UUID | None = Field()
    address: str = Field(sa_type=Text, sa_column_kwargs=EMPTY)
    action: str = Field(sa_type=Text)
    subject: str = Field(sa_type=Text, sa_column_kwargs=EMPTY)
    detail: dict[str, str] = Field(sa_type=JSON)


class QuotaRow(SQLModel, table=True):
    """Limits of an organisation (`subject` is its id) or of one of its keys. Null is none."""

    __tablename__ = "quotas"
    __table_args__ = own_rows("SELECT, INSERT, UPDATE")
    organisation_id: UUID = Field(
        primary_key=True, foreign_key="organisations.id", ondelete="CASCADE", sa_column_kwargs=OWNER_OF_ROW
    )
    subject: UUID = Field(primary_key=True)
    requests_per_minute: int | None = Field(sa_type=BigInteger, nullable=True)
    concurrent_runs: int | None = Field(sa_type=BigInteger, nullable=True)
    tokens_per_month: int | None = Field(sa_type=BigInteger, nullable=True)
    cost_microusd_per_month: int | None = Field(sa_type=BigInteger, nullable=True)


class RetentionRow(SQLModel, table=True):
    """Days after which an organisation's data is deleted; null: never."""

    __tablename__ = "retentions"
    __table_args__ = own_rows("SELECT, INSERT, UPDATE")
    organisation_id: UUID = Field(
        primary_key=True, foreign_key="organisations.id", ondelete="CASCADE", sa_column_kwargs=OWNER_OF_ROW
    )
    runs_days: int | None = Field(nullable=True)
    events_days: int | None = Field(nullable=True)
    tool_results_days: int | None = Field(nullable=True)
    feedback_days: int | None = Field(nullable=True)


class ClockLookRow(SQLModel, table=True):
    """When somebody looked at the clock, to delete by it a day later."""

    __tablename__ = "clock_looks"
    __table_args__ = for_worker_only()
    at: datetime = Field(primary_key=True, sa_type=TIME)
