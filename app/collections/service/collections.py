"""Make collections, receive documents, and delete both."""

import logging
from collections.abc import AsyncIterator, Callable, Sequence
from typing import NamedTuple
from uuid import UUID, uuid4

from app.accounts.nouns.access import Principal
from app.audit import storage as audit
from app.audit.storage import Action
from app.collections import nouns as rules
from app.collections.nouns import Access, Collection, OwnDocument
from app.collections.service.document_files import DocumentFiles, IncomingFile
from app.collections.service.index_owner import IndexService
from app.collections.storage import collections
from app.database.engine import Executor
from app.database.tenancy import TenantDatabase
from app.disk import Disks
from app.domain.errors import Conflict, Forbidden, InvalidInput, NotFound, Unavailable

log = logging.getLogger(__name__)


class FileBegin(NamedTuple):
    """The beginning of a file; its bytes follow."""

    name: str


class FileEnd(NamedTuple):
    """The end of the file that had begun."""


UploadPart = FileBegin | bytes | FileEnd


class FileRefusal(NamedTuple):
    """A file that was not accepted, and why."""

    name: str
    reason: str


class UploadOutcome(NamedTuple):
    """The outcome of an upload."""

    items: list[OwnDocument]
    refused: list[FileRefusal]


class Collections:
    """The use cases around collections. `wake` is called when there is something to index or to remove.

    The database decides which collections the caller may use; another one is not found.

    Raises:
        NotFound: no such collection or document.
        Unavailable: the database does not answer.
    """

    def __init__(
        self,
        database: TenantDatabase,
        trusted: Executor,
        files: DocumentFiles,
        index: IndexService,
        wake: Callable[[], None],
        disks: Disks,
    ) -> None:
        self._database = database
        self._trusted = trusted
        self._files = files
        self._index = index
        self._wake = wake
        self._disks = disks

    async def list_page(self, limit: int, before: UUID | None) -> Sequence[Collection]:
        """Return up to `limit` collections, newest first, older than `before`."""
        return await collections.list_page(self._database, limit, before)

    async def get(self, collection: UUID) -> Collection:
        """Return one collection."""
        found = await collections.get(self._database, collection)
        if found is None:
            raise NotFound(f"there is no collection {collection}")
        return found

    async def create(self, name: str, access: Access) -> Collection:
        """Make a new, empty collection.

        Raises:
            InvalidInput: the name cannot be used.
            Conflict: there is one of this name, or there are too many.
        """
        made = uuid4()
        if not await collections.create(self._database, made, rules.check_collection_name(name), access, rules.MAX_COLLECTIONS):
            raise Conflict(f"there are {rules.MAX_COLLECTIONS} collections already; delete one first")
        return await self.get(made)

    async def set_access(self, principal: Principal, collection: UUID, access: Access) -> Collection:
        """Set who may use a collection. `Forbidden` for everybody except its maker, owners and admins."""
        if not (await self.get(collection)).is_managed_by(principal):
            raise Forbidden("only the maker of this collection, an owner or an admin may say who else may use it")
        async with self._database.acquire() as connection:
            await collections.set_access(connection, collection, access)
            await audit.record(connection, Action.COLLECTION_OPENED, collection, _describe_access(access))
        return await self.get(collection)

    async def delete(self, principal: Principal, collection: UUID) -> None:
        """Delete a collection with everything made from it. `Forbidden` for everybody except its maker, owners and admins."""
        if not (await self.get(collection)).is_managed_by(principal):
            raise Forbidden("only the maker of this collection, an owner or an admin may delete it")
        async with self._database.acquire() as connection:
            await collections.delete(connection, collection)
            await audit.record(connection, Action.COLLECTION_DELETED, collection)
        self._wake()

    async def list_documents(self, collection: UUID, limit: int, before: UUID | None) -> Sequence[OwnDocument]:
        """Return up to `limit` documents, newest first, older than `before`; those being deleted included."""
        await self.get(collection)
        return await collections.list_documents(self._database, collection, limit, before)

    async def delete_document(self, collection: UUID, document: UUID) -> None:
        """Delete a document with everything made from it."""
        await self.get(collection)
        if not await collections.forget_document(self._database, collection, document):
            raise NotFound(f"there is no document {document} in this collection")
        self._wake()

    async def receive(self, principal: Principal, collection: UUID, parts: AsyncIterator[UploadPart]) -> UploadOutcome:
        """Store the files that arrive. A refused file does not stop the others; a newer file replaces the older of its name.

        Raises:
            InvalidInput: not one file could be stored.
            Unavailable: a disk is full, or there is no index here.
        """
        into = await self.get(collection)
        if not self._index.configured:
            raise Unavailable("no index is configured here, so documents could not be searched: set RUBRICA_RETRIEVAL_URL")
        await self._disks.require_room()
        receiving = Upload(self, principal, into)
        try:
            async for part in parts:
                await receiving.take(part)
        finally:
            await receiving.close()
            self._wake()
        if not receiving.items:
            reasons = "; ".join(f"{name}: {reason}" for name, reason in receiving.refused[:5])
            raise InvalidInput(f"no document was taken. {reasons or 'Send files as multipart/form-data, each with a filename'}")
        return UploadOutcome(receiving.items, receiving.refused)

    def begin_file(self, suffix: str) -> IncomingFile:
        """Open a place for a file that begins to arrive."""
        return self._files.begin_file(suffix)

    async def keep_file(self, principal: Principal, into: Collection, name: str, incoming: IncomingFile) -> OwnDocument:
        """Add a whole file to a collection."""
        held = await collections.count_held_bytes(self._trusted, principal.organisation_id)
        if held + incoming.size > rules.MAX_ORGANISATION_BYTES:
            raise InvalidInput(f"your organisation's documents may have {rules.MAX_ORGANISATION_BYTES >> 30} GiB together")
        document, suffix = uuid4(), rules.suffix_of(name)
        target = self._files.folder_of_document(principal.organisation_id, into.id, document)
        # The file first: a row without a file would wait forever; a file without a row is swept.
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


class Upload:
    """One upload into one collection."""

    def __init__(self, collections_: Collections, principal: Principal, into: Collection) -> None:
        self._collections = collections_
        self._principal = principal
        self._into = into
        self._name = ""
        self._incoming: IncomingFile | None = None
        self._seen = 0
        self.items: list[OwnDocument] = []
        self.refused: list[FileRefusal] = []

    async def take(self, part: UploadPart) -> None:
        """Handle the next part of the upload."""
        match part:
            case FileBegin(name):
                self._begin(name)
            case FileEnd():
                await self._end()
            case _ if self._incoming is not None:
                await self._write(self._incoming, part)

    def _begin(self, name: str) -> None:
        self._seen += 1
        try:
            if self._seen > rules.MAX_FILES_AT_ONCE:
                raise InvalidInput(f"at most {rules.MAX_FILES_AT_ONCE} files are taken at once")
            self._name = rules.check_file_name(name)
        except InvalidInput as error:
            self._refuse(name[: rules.MAX_NAME_CHARS], str(error))
        else:
            self._incoming = self._collections.begin_file(rules.suffix_of(self._name))

    async def _write(self, incoming: IncomingFile, chunk: bytes) -> None:
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
            self.items.append(await self._collections.keep_file(self._principal, self._into, self._name, incoming))
        except InvalidInput as error:
            self._refuse(self._name, str(error))
            await incoming.discard()

    async def close(self) -> None:
        """Discard a file that was cut off, since nothing more comes."""
        if self._incoming is not None:
            await self._incoming.discard()

    def _refuse(self, name: str, reason: str) -> None:
        self.refused.append(FileRefusal(name, reason))


def _describe_access(access: Access) -> dict[str, str]:
    """Describe who may use a collection, for the audit log."""
    if access.everyone:
        return {"everyone": "true"}
    return {"people": str(len(access.users)), "roles": ", ".join(access.roles)}
