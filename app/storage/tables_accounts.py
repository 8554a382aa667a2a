"""Organisations, people and keys, as Alembic reads them."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import (
    ARRAY,
    CheckConstraint,
    DateTime,
    ForeignKeyConstraint,
    Index,
    LargeBinary,
    Text,
    UniqueConstraint,
    func,
    text,
)
from sqlmodel import Field, SQLModel

from app.domain.accounts import Role

NOW = {"server_default": func.now()}
OWNER_OF_ROW = {"server_default": text("current_organisation()")}
TIME = DateTime(timezone=True)


class OrganisationRow(SQLModel, table=True):
    """Whose rows no other sees."""

    __tablename__ = "organisations"
    id: UUID = Field(primary_key=True)
    name: str = Field(sa_type=Text)
    created_at: datetime = Field(sa_type=TIME, sa_column_kwargs=NOW)


class UserRow(SQLModel, table=True):
    """A person, in one or more organisations. Without a password they sign in by their organisation's identity provider."""

    __tablename__ = "users"
    __table_args__ = (UniqueConstraint("email", name="users_email"),)
    id: UUID = Field(primary_key=True)
    email: str = Field(sa_type=Text)
    name: str = Field(sa_type=Text, sa_column_kwargs={"server_default": ""})
    password_hash: str | None = Field(sa_type=Text, nullable=True)
    created_at: datetime = Field(sa_type=TIME, sa_column_kwargs=NOW)


class MembershipRow(SQLModel, table=True):
    """What a person is in an organisation."""

    __tablename__ = "memberships"
    __table_args__ = (
        CheckConstraint(f"role IN ({', '.join(repr(role.value) for role in Role)})", name="memberships_role"),
        Index("memberships_of_user", "user_id"),
    )
    organisation_id: UUID = Field(
        primary_key=True, foreign_key="organisations.id", ondelete="CASCADE", sa_column_kwargs=OWNER_OF_ROW
    )
    user_id: UUID = Field(primary_key=True, foreign_key="users.id", ondelete="CASCADE")
    role: str = Field(sa_type=Text)
    joined_at: datetime = Field(sa_type=TIME, sa_column_kwargs=NOW)


class ApiKeyRow(SQLModel, table=True):
    """A key acts for the member who made it, and goes with them. `secret_hash` is a SHA-256."""

    __tablename__ = "api_keys"
    __table_args__ = (
        ForeignKeyConstraint(
            ["organisation_id", "user_id"], ["memberships.organisation_id", "memberships.user_id"], ondelete="CASCADE"
        ),
        Index("api_keys_of_organisation", "organisation_id", "user_id"),
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
