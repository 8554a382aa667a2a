"""Collections of own documents, as Alembic reads them."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import ARRAY, BigInteger, CheckConstraint, Index, Text, UniqueConstraint, Uuid, text
from sqlmodel import Field, SQLModel

from app.collections.nouns import DocumentState
from app.database.tables.columns import ACTING_USER, EMPTY, NO_ITEMS, NOW, OWNER_OF_ROW, TIME, ZERO, key_in_organisation
from app.database.tables.protection import ALL, own_rows, visible_rows

THERE = text("deleted_at IS NULL")


class CollectionRow(SQLModel, table=True):
    """A collection of own documents. Once `deleted_at` is set its name is free, and it goes when all of it is gone."""

    __tablename__ = "collections"
    __table_args__ = (
        UniqueConstraint("organisation_id", "id", name="collections_in_organisation"),
        Index("collections_by_name", "organisation_id", "name", unique=True, postgresql_where=THERE),
        Index("collections_newest_first", "organisation_id", text("created_at DESC"), text("id DESC")),
        visible_rows("may_use(collections)", ALL),
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
        key_in_organisation("collection_id", "collections.id"),
        CheckConstraint(
            f"state IN ({', '.join(repr(state.value) for state in DocumentState)})", name="collection_documents_state"
        ),
        Index("collection_documents_by_name", "collection_id", "name", unique=True, postgresql_where=THERE),
        Index("collection_documents_newest_first", "collection_id", text("received_at DESC"), text("id DESC")),
        Index("collection_documents_by_snapshot", "snapshot"),
        Index("collection_documents_unsettled", "collection_id", postgresql_where=text("state NOT IN ('indexed', 'failed')")),
        visible_rows("EXISTS (SELECT FROM collections c WHERE c.id = collection_documents.collection_id)", ALL),
    )
    id: UUID = Field(primary_key=True)
    organisation_id: UUID = Field(foreign_key="organisations.id", ondelete="CASCADE", sa_column_kwargs=OWNER_OF_ROW)
    collection_id: UUID = Field()
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
    __table_args__ = (
        key_in_organisation("collection_id", "collections.id"),
        key_in_organisation("run_id", "runs.id"),
        Index("collection_runs_of_run", "run_id"),
        own_rows("SELECT, INSERT"),
    )
    collection_id: UUID = Field(primary_key=True)
    run_id: UUID = Field(primary_key=True)
    organisation_id: UUID = Field(foreign_key="organisations.id", ondelete="CASCADE", sa_column_kwargs=OWNER_OF_ROW)
