"""Collections of own documents, as Alembic reads them."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import ARRAY, BigInteger, CheckConstraint, Index, Text, Uuid, text
from sqlmodel import Field, SQLModel

from app.collections.nouns import DocumentState
from app.database.tables.accounts import OWNER_OF_ROW
from app.database.tables.runs import ACTING_USER, EMPTY, NOW, TIME, ZERO

NO_ITEMS = {"server_default": "{}"}
THERE = text("deleted_at IS NULL")


class CollectionRow(SQLModel, table=True):
    """A collection of own documents. Once `deleted_at` is set its name is free, and it goes when all of it is gone."""

    __tablename__ = "collections"
    __table_args__ = (
        Index("collections_by_name", "organisation_id", "name", unique=True, postgresql_where=THERE),
        Index("collections_newest_first", "organisation_id", text("created_at DESC"), text("id DESC")),
    )
    id: UUID = Field(primary_key=True)
    organisation_id: UUID = Field(foreign_key="organisations.id", ondelete="CASCADE", sa_column_kwargs=OWNER_OF_ROW)
    name: str = Field(sa_type=Text)
    everyone: bool = Field()
    users: list[UUID] = Field(sa_type=ARRAY(Uuid), sa_column_kwargs=NO_ITEMS)
    roles: list[str] = Field(sa_type=ARRAY(Text), sa_column_kwargs=NO_ITEMS)
    created_by: UUID | None = Field(foreign_key="users.id", ondelete="SET NULL", sa_column_kwargs=ACTING_USER)
    created_at: datetime = Field(sa_type=TIME, sa_column_kwargs=NOW)
    deleted_at: datetime | None = Field(sa_type=TIME, nullable=True)


class CollectionDocumentRow(SQLModel, table=True):
    """A document that was sent. `snapshot` is the hash of its text, by which what runs keep of it is found."""

    __tablename__ = "collection_documents"
    __table_args__ = (
        CheckConstraint(
            f"state IN ({', '.join(repr(state.value) for state in DocumentState)})", name="collection_documents_state"
        ),
        Index("collection_documents_by_name", "collection_id", "name", unique=True, postgresql_where=THERE),
        Index("collection_documents_newest_first", "collection_id", text("received_at DESC"), text("id DESC")),
        Index("collection_documents_by_snapshot", "snapshot"),
        Index("collection_documents_unsettled", "collection_id", postgresql_where=text("state NOT IN ('indexed', 'failed')")),
    )
    id: UUID = Field(primary_key=True)
    organisation_id: UUID = Field(foreign_key="organisations.id", ondelete="CASCADE", sa_column_kwargs=OWNER_OF_ROW)
    collection_id: UUID = Field(foreign_key="collections.id", ondelete="CASCADE")
    name: str = Field(sa_type=Text)
    bytes: int = Field(sa_type=BigInteger)
    state: str = Field(sa_type=Text, sa_column_kwargs={"server_default": "received"})
    detail: str = Field(sa_type=Text, sa_column_kwargs=EMPTY)
    snapshot: str = Field(sa_type=Text, sa_column_kwargs=EMPTY)
    characters: int = Field(sa_type=BigInteger, sa_column_kwargs=ZERO)
    received_at: datetime = Field(sa_type=TIME, sa_column_kwargs=NOW)
    deleted_at: datetime | None = Field(sa_type=TIME, nullable=True)


class CollectionRunRow(SQLModel, table=True):
    """That a run searches a collection: where to look for what it kept, once a document is deleted."""

    __tablename__ = "collection_runs"
    __table_args__ = (Index("collection_runs_of_run", "run_id"),)
    collection_id: UUID = Field(primary_key=True, foreign_key="collections.id", ondelete="CASCADE")
    run_id: UUID = Field(primary_key=True, foreign_key="runs.id", ondelete="CASCADE")
    organisation_id: UUID = Field(foreign_key="organisations.id", ondelete="CASCADE", sa_column_kwargs=OWNER_OF_ROW)
