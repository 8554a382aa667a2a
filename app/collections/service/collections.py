"""An organisation's own documents: making collections, receiving documents, letting them go."""

import logging
from collections.abc import AsyncIterator, Callable, Sequence
from typing import NamedTuple
from uuid import UUID, uuid4

from app.accounts.nouns.access import Principal
from app.audit import storage as audit
from app.audit.storage import Action
from app.collections import nouns as rules
from app.collections.nouns import Access, Collection, OwnDocument
from app.collections.service.document_files import DocumentFiles, Incoming
from app.collections.service.index_owner import IndexService
from app.collections.storage import collections
from app.database.engine import Executor
from app.database.tenancy import TenantDatabase
from app.domain.errors import Conflict, Forbidden, InvalidInput, NotFound, Unavailable

log = logging.getLogger(__name__)


class Begun(NamedTuple):
    """A file begins; its bytes follow."""

    name: str


class Ended(NamedTuple):
    """The file that had begun is whole."""


Part = Begun | bytes | Ended


class Refused(NamedTuple):
    """A file that was not taken, and why."""

    name: str
    reason: str


class Received(NamedTuple):
    """What came of a sending."""

    items: list[OwnDocument]
    refused: list[Refused]


class Collections:
    """The use cases around collections. `wake` is called when there is something to index or to take out.

    Which collections there are for whoever acts is the database's to say; one that is not theirs is not found.

    Raises:
        NotFound: no such collection or document.
        Unavailable: the database does not answer.
    """

    def __init__(
        self, database: TenantDatabase, trusted: Executor, files: DocumentFiles, index: IndexService, wake: Callable[[], None]
    ) -> None:
        self._database = database
        self._trusted = trusted
        self._files = files
        self._index = index
        self._wake = wake

    async def page(self, limit: int, before: UUID | None) -> Sequence[Collection]:
        """Up to `limit` collections, newest first, older than `before`."""
        return await collections.page(self._database, limit, before)

    async def get(self, collection: UUID) -> Collection:
        """One collection."""
        found = await collections.get(self._database, collection)
        if found is None:
            raise NotFound(f"there is no collection {collection}")
        return found

    async def create(self, name: str, access: Access) -> Collection:
        """A new, empty collection.

        Raises:
            InvalidInput: the name cannot be used.
            Conflict: there is one of this name, or there are too many.
        """
        made = uuid4()
        if not await collections.create(self._database, made, rules.collection_name(name), access, rules.MAX_COLLECTIONS):
            raise Conflict(f"there are {rules.MAX_COLLECTIONS} collections already; delete one first")
        return await self.get(made)

    async def set_access(self, principal: Principal, collection: UUID, access: Access) -> Collection:
        """Say who may use a collection. `Forbidden` for all but whoever made it, owners and admins."""
        if not (await self.get(collection)).managed_by(principal):
            raise Forbidden("only whoever made this collection, an owner or an admin may say who else may use it")
        async with self._database.acquire() as connection:
            await collections.set_access(connection, collection, access)
            await audit.record(connection, Action.COLLECTION_OPENED, collection, _told(access))
        return await self.get(collection)

    async def delete(self, principal: Principal, collection: UUID) -> None:
        """Delete a collection with all that came of it. `Forbidden` for all but whoever made it, owners and admins."""
        if not (await self.get(collection)).managed_by(principal):
            raise Forbidden("only whoever made this collection, an owner or an admin may delete it")
        async with self._database.acquire() as connection:
            await collections.delete(connection, collection)
            await audit.record(connection, Action.COLLECTION_DELETED, collection)
        self._wake()

    async def documents(self, collection: UUID, limit: int, before: UUID | None) -> Sequence[OwnDocument]:
        """Up to `limit` documents, newest first, older than `before`; those on their way out included."""
        await self.get(collection)
        return await collections.documents(self._database, collection, limit, before)

    async def forget(self, collection: UUID, document: UUID) -> None:
        """Delete a document with all that came of it."""
        await self.get(collection)
        if not await collections.forget_document(self._database, collection, document):
            raise NotFound(f"there is no document {document} in this collection")
        self._wake()

    async def receive(self, principal: Principal, collection: UUID, parts: AsyncIterator[Part]) -> Received:
        """Take the files that come. One that cannot be taken is refused by itself; a newer one of a name replaces the older.

        Raises:
            InvalidInput: not one of them could be taken.
        """
        into = await self.get(collection)
        if not self._index.configured:
            raise Unavailable("no index is configured here, so documents could not be searched: set RUBRICA_RETRIEVAL_URL")
        receiving = Receiving(self, principal, into)
        try:
            async for part in parts:
                await receiving.take(part)
        finally:
            await receiving.close()
            self._wake()
        if not receiving.items:
            reasons = "; ".join(f"{name}: {reason}" for name, reason in receiving.refused[:5])
            raise InvalidInput(f"no document was taken. {reasons or 'Send files as multipart/form-data, each with a filename'}")
        return Received(receiving.items, receiving.refused)

    def begin(self, suffix: str) -> Incoming:
        """Somewhere to put a file that begins to come."""
        return self._files.begin(suffix)

    async def keep(self, principal: Principal, into: Collection, name: str, incoming: Incoming) -> OwnDocument:
        """Add a whole file to a collection."""
        held = await collections.held_bytes(self._trusted, principal.organisation_id)
        if held + incoming.size > rules.MAX_ORGANISATION_BYTES:
            raise InvalidInput(f"your organisation's documents may have {rules.MAX_ORGANISATION_BYTES >> 30} GiB together")
        document, suffix = uuid4(), rules.suffix_of(name)
        target = self._files.document(principal.organisation_id, into.id, document)
        # The file first: a row without a file would wait for ever; a file without a row is swept up.
        await incoming.keep(target, name, rules.address_of(into.name, name), suffix)
        try:
            async with self._database.acquire() as connection:
                kept = await collections.add_document(connection, document, into.id, name, incoming.size, rules.MAX_DOCUMENTS)
                if kept is None:
                    raise InvalidInput(f"a collection has up to {rules.MAX_DOCUMENTS:,} documents")
        except BaseException:
            self._files.remove(target)
            raise
        return kept


class Receiving:
    """One sending into one collection."""

    def __init__(self, collections_: Collections, principal: Principal, into: Collection) -> None:
        self._collections = collections_
        self._principal = principal
        self._into = into
        self._name = ""
        self._incoming: Incoming | None = None
        self._seen = 0
        self.items: list[OwnDocument] = []
        self.refused: list[Refused] = []

    async def take(self, part: Part) -> None:
        """The next part of what comes."""
        match part:
            case Begun(name):
                self._begin(name)
            case Ended():
                await self._end()
            case _ if self._incoming is not None:
                await self._write(self._incoming, part)

    def _begin(self, name: str) -> None:
        self._seen += 1
        try:
            if self._seen > rules.MAX_FILES_AT_ONCE:
                raise InvalidInput(f"at most {rules.MAX_FILES_AT_ONCE} files are taken at once")
            self._name = rules.file_name(name)
        except InvalidInput as error:
            self._refuse(name[: rules.MAX_NAME_CHARS], str(error))
        else:
            self._incoming = self._collections.begin(rules.suffix_of(self._name))

    async def _write(self, incoming: Incoming, chunk: bytes) -> None:
        await incoming.write(chunk)
        if incoming.size > rules.MAX_FILE_BYTES:
            self._incoming = None
            await incoming.discard()
            self._refuse(self._name, f"is larger than {rules.MAX_FILE_BYTES >> 20} MiB")

    async def _end(self) -> None:
        incoming, self._incoming = self._incoming, None
        if incoming is None:
            return
        try:
            if not incoming.size:
                raise InvalidInput("is empty")
            self.items.append(await self._collections.keep(self._principal, self._into, self._name, incoming))
        except InvalidInput as error:
            self._refuse(self._name, str(error))
            await incoming.discard()

    async def close(self) -> None:
        """Nothing more comes: leave nothing of a file that was cut off."""
        if self._incoming is not None:
            await self._incoming.discard()

    def _refuse(self, name: str, reason: str) -> None:
        self.refused.append(Refused(name, reason))


def _told(access: Access) -> dict[str, str]:
    """Who may use a collection, for the audit log."""
    if access.everyone:
        return {"everyone": "true"}
    return {"people": str(len(access.users)), "roles": ", ".join(access.roles)}
