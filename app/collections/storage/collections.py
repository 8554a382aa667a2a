"""Collections of own documents and the documents in them. Every function is one statement.

The database decides which collections the acting person may use (`may_use` in migrations/sql).
"""

from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

from asyncpg import Record, UniqueViolationError

from app.accounts.nouns.access import Role
from app.collections.nouns import Access, Collection, OwnDocument
from app.database.engine import Executor, translate_outages
from app.database.noun_columns import columns_of
from app.domain.errors import Conflict

COLLECTION = """
    SELECT c.id, c.name, c.everyone, c.users, c.roles, c.created_by, c.created_at, held.documents, held.bytes
    FROM collections c, LATERAL (SELECT count(*) AS documents, coalesce(sum(d.bytes), 0)::bigint AS bytes
                                 FROM collection_documents d WHERE d.collection_id = c.id AND d.deleted_at IS NULL) AS held
    WHERE c.deleted_at IS NULL AND may_use(c) """
PAGE = (
    COLLECTION
    + """AND ($2::uuid IS NULL OR (c.created_at, c.id) < (SELECT b.created_at, b.id FROM collections b WHERE b.id = $2))
    ORDER BY c.created_at DESC, c.id DESC LIMIT $1"""
)
GET = COLLECTION + "AND c.id = $1"
BY_NAME = (
    "SELECT id, name, organisation_id FROM collections c WHERE name = ANY ($1::text[]) AND deleted_at IS NULL AND may_use(c)"
)
# What a private collection says would reach everybody who may read the run: it is searched only where its asker names it.
OFFERED = """
    SELECT id, name, organisation_id FROM collections c WHERE everyone AND deleted_at IS NULL AND may_use(c)
    AND EXISTS (SELECT FROM collection_documents d WHERE d.collection_id = c.id AND d.deleted_at IS NULL AND d.state = 'indexed')
    ORDER BY created_at DESC, id DESC LIMIT $1"""
CREATE = """
    INSERT INTO collections (id, name, everyone, users, roles)
    SELECT $1, $2, $3, $4, $5 WHERE (SELECT count(*) FROM collections WHERE deleted_at IS NULL) < $6"""
SET_ACCESS = "UPDATE collections SET everyone = $2, users = $3, roles = $4 WHERE id = $1 AND deleted_at IS NULL"
DELETE = """
    WITH gone AS (UPDATE collections SET deleted_at = now() WHERE id = $1 AND deleted_at IS NULL RETURNING id)
    UPDATE collection_documents SET deleted_at = coalesce(deleted_at, now()), state = 'deleting'
    WHERE collection_id IN (TABLE gone)"""
DOCUMENT = f"SELECT {columns_of(OwnDocument)} FROM collection_documents "
DOCUMENTS = (
    DOCUMENT
    + """WHERE collection_id = $1
    AND ($3::uuid IS NULL OR (received_at, id) < (SELECT b.received_at, b.id FROM collection_documents b WHERE b.id = $3))
    ORDER BY received_at DESC, id DESC LIMIT $2"""
)
# Two uploads of one name come one after the other: then the later one finds the document that it replaces.
HOLD = "SELECT FROM collections WHERE id = $1 FOR NO KEY UPDATE"
REPLACE = """
    UPDATE collection_documents SET deleted_at = now(), state = 'deleting'
    WHERE collection_id = $1 AND name = $2 AND deleted_at IS NULL"""
INSERT = f"""
    INSERT INTO collection_documents (id, collection_id, name, bytes) SELECT $1, c.id, $3, $4 FROM collections c
    WHERE c.id = $2 AND c.deleted_at IS NULL
    AND (SELECT count(*) FROM collection_documents d WHERE d.collection_id = $2 AND d.deleted_at IS NULL) < $5
    RETURNING {columns_of(OwnDocument)}"""
HELD = "SELECT coalesce(sum(bytes), 0)::bigint FROM collection_documents WHERE organisation_id = $1 AND deleted_at IS NULL"
FORGET = """
    UPDATE collection_documents SET deleted_at = now(), state = 'deleting'
    WHERE collection_id = $1 AND id = $2 AND deleted_at IS NULL RETURNING id"""
SEARCHES = "INSERT INTO collection_runs (collection_id, run_id) SELECT unnest($1::uuid[]), $2 ON CONFLICT DO NOTHING"
TAKE_OVER = """
    INSERT INTO collection_runs (collection_id, run_id, organisation_id)
    SELECT collection_id, $2, organisation_id FROM collection_runs WHERE run_id = $1 ON CONFLICT DO NOTHING"""


class NamedCollection(NamedTuple):
    """A collection by the name its organisation gave it."""

    id: UUID
    name: str
    organisation_id: UUID


async def create(database: Executor, collection: UUID, name: str, access: Access, most: int) -> bool:
    """Add a collection; False when there are `most` already. `Conflict` when the name is taken."""
    async with translate_outages():
        try:
            done = await database.execute(CREATE, collection, name, *_access_of(access), most)
        except UniqueViolationError as error:
            raise Conflict(f"there is a collection {name!r} already") from error
    return done.endswith("1")


async def list_page(database: Executor, limit: int, before: UUID | None) -> Sequence[Collection]:
    """List up to `limit` collections that the acting person may use, newest first, older than the collection `before`."""
    async with translate_outages():
        return [_collection_of(row) for row in await database.fetch(PAGE, limit, before)]


async def get(database: Executor, collection: UUID) -> Collection | None:
    """Return the collection, or None."""
    async with translate_outages():
        row = await database.fetchrow(GET, collection)
    return _collection_of(row) if row else None


async def find_named(database: Executor, names: Sequence[str]) -> Sequence[NamedCollection]:
    """Return the collections of these names that the acting person may use."""
    async with translate_outages():
        return [NamedCollection(*row) for row in await database.fetch(BY_NAME, list(names))]


async def list_offered(database: Executor, limit: int) -> Sequence[NamedCollection]:
    """Return the newest collections that hold indexed documents, and that the whole organisation may use."""
    async with translate_outages():
        return [NamedCollection(*row) for row in await database.fetch(OFFERED, limit)]


async def set_access(database: Executor, collection: UUID, access: Access) -> None:
    """Say who may use a collection."""
    async with translate_outages():
        await database.execute(SET_ACCESS, collection, *_access_of(access))


async def delete(database: Executor, collection: UUID) -> None:
    """Mark a collection and all its documents as going; nobody sees it from now on."""
    async with translate_outages():
        await database.execute(DELETE, collection)


async def list_documents(database: Executor, collection: UUID, limit: int, before: UUID | None) -> Sequence[OwnDocument]:
    """List up to `limit` documents of a collection, newest first, those on their way out included."""
    async with translate_outages():
        return [_document_of(row) for row in await database.fetch(DOCUMENTS, collection, limit, before)]


async def add_document(
    database: Executor, document: UUID, collection: UUID, name: str, size: int, most: int
) -> OwnDocument | None:
    """Add a document that was received; one of the same name goes. None when there are `most`, or no such collection.

    Three statements: `database` must have a transaction open.
    """
    async with translate_outages():
        await database.execute(HOLD, collection)
        await database.execute(REPLACE, collection, name)
        row = await database.fetchrow(INSERT, document, collection, name, size, most)
    return _document_of(row) if row else None


async def count_held_bytes(trusted: Executor, organisation: UUID) -> int:
    """Count the bytes of documents that an organisation has, whether or not the one who asks sees them."""
    async with translate_outages():
        return int(await trusted.fetchval(HELD, organisation))


async def forget_document(database: Executor, collection: UUID, document: UUID) -> bool:
    """Mark a document as going; False when there is none."""
    async with translate_outages():
        return await database.fetchval(FORGET, collection, document) is not None


async def note_searches(database: Executor, run: UUID, searched: Sequence[UUID]) -> None:
    """Remember which collections a run searches."""
    async with translate_outages():
        await database.execute(SEARCHES, list(searched), run)


async def take_over_searches(database: Executor, before: UUID, run: UUID) -> None:
    """Remember that a run has evidence of an earlier one, and so of the collections that this one searched."""
    async with translate_outages():
        await database.execute(TAKE_OVER, before, run)


def _access_of(access: Access) -> tuple[bool, list[UUID], list[str]]:
    return access.everyone, list(access.users), [role.value for role in access.roles]


def _collection_of(row: Record) -> Collection:
    return Collection(
        id=row["id"],
        name=row["name"],
        access=Access(everyone=row["everyone"], users=tuple(row["users"]), roles=tuple(Role(role) for role in row["roles"])),
        documents=row["documents"],
        bytes=row["bytes"],
        created_by=row["created_by"],
        created_at=row["created_at"],
    )


def _document_of(row: Record) -> OwnDocument:
    return OwnDocument(**dict(row))
