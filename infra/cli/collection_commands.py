"""Do the work of `rubrica collections ...`."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from uuid import UUID

from app.collections.storage.indexing import is_kept
from app.domain.errors import NotFound
from app.settings import Settings
from infra.cli.connection import open_connection
from infra.cli.execute import FAILED, say
from infra.local.home import Home
from infra.local.interrupt import name_stop
from rubrica_client import AsyncClient
from rubrica_client import documents as calls
from rubrica_client.errors import InvalidInput
from rubrica_client.models import Collection, DocumentState, OwnDocument

POLL_S = 0.5
PAGE_SIZE = 100
UNFINISHED = (DocumentState.RECEIVED, DocumentState.PARSED)


async def show_collections(settings: Settings) -> int:
    """Print one line for each collection."""
    async with open_connection(settings, say) as connection:
        async for found in connection.api.each(calls.collections(PAGE_SIZE)):
            shared = "" if found.access.everyone else "  restricted"
            print(f"{found.id}  {found.name:32} {found.documents:6,} documents  {found.bytes / 2**20:8,.1f} MiB{shared}")
    return 0


async def create(settings: Settings, name: str) -> int:
    """Make a collection and print its id."""
    async with open_connection(settings, say) as connection:
        print((await connection.api.send(calls.create_collection(name))).id)
    return 0


async def upload(settings: Settings, name: str, files: Sequence[Path], wait: bool) -> int:
    """Send files, one request each, so that progress shows. Return 1 when a file was refused or cannot be indexed."""
    failed, sent = False, list[str]()
    async with open_connection(settings, say) as connection:
        into = await _find_collection(connection.api, name)
        for path in files:
            try:
                sent.append(await _send_file(connection.api, into, path))
                say(f"{path.name}: received")
            except InvalidInput as error:
                failed = True
                say(f"{path.name}: {error}")
        for document in await connection.run_while_healthy(_read_documents(connection.api, into, sent, wait)):
            failed |= document.state is DocumentState.FAILED
            print(_describe_document(document))
    return FAILED if failed else 0


async def _send_file(api: AsyncClient, collection: Collection, path: Path) -> str:
    """Send a file, read from the disk as it goes, and return the id of its document."""
    with path.open("rb") as content:
        received = await api.send(calls.upload(collection.id, [(path.name, content)]))
    return received.items[0].id


async def _read_documents(api: AsyncClient, collection: Collection, sent: Sequence[str], wait: bool) -> list[OwnDocument]:
    """Return the documents that were sent. With `wait`, wait until each is indexed or has failed."""
    while True:
        stored = {document.id: document async for document in api.each(calls.list_(collection.id, PAGE_SIZE))}
        mine = [stored[id_] for id_ in sent if id_ in stored]
        if not wait or all(document.state not in UNFINISHED for document in mine):
            return mine
        await asyncio.sleep(POLL_S)


async def show_documents(settings: Settings, name: str) -> int:
    """Print one line for each document."""
    async with open_connection(settings, say) as connection:
        async for document in connection.api.each(calls.list_((await _find_collection(connection.api, name)).id, PAGE_SIZE)):
            print(_describe_document(document))
    return 0


async def remove(settings: Settings, name: str, document: str) -> int:
    """Delete a collection, or one document."""
    async with open_connection(settings, say) as connection:
        found = await _find_collection(connection.api, name)
        leaving = await _find_document(connection.api, found, document) if document else found.id
        await connection.api.send(calls.delete(found.id, leaving) if document else calls.delete_collection(found.id))
        say(f"{document or found.name} is being deleted")
        if connection.stack is not None:
            await connection.run_while_healthy(_wait_until_gone(settings, leaving))
    return 0


async def _wait_until_gone(settings: Settings, leaving: str) -> None:
    """Wait until nothing of a document or collection is left. The stack that deletes it stops with this command."""
    # The other commands need no database.
    from infra.cli.worker_database import open_worker_pool

    say(f"waiting until nothing of it is left; {name_stop()} leaves the rest to the next stack")
    say("what a paused run has read stays for it")
    async with open_worker_pool(settings, Home(settings.home)) as trusted:
        while await is_kept(trusted, UUID(leaving)):
            await asyncio.sleep(POLL_S)


async def _find_collection(api: AsyncClient, name: str) -> Collection:
    async for found in api.each(calls.collections(PAGE_SIZE)):
        if name in (found.name, found.id):
            return found
    raise NotFound(f"there is no collection {name!r}; `rubrica collections list` shows those you may use")


async def _find_document(api: AsyncClient, collection: Collection, name: str) -> str:
    async for found in api.each(calls.list_(collection.id, PAGE_SIZE)):
        if name in (found.name, found.id):
            return found.id
    raise NotFound(f"there is no document {name!r} in {collection.name}")


def _describe_document(document: OwnDocument) -> str:
    detail = f"  {document.detail}" if document.detail else ""
    return f"{document.id}  {document.state.value:9} {document.characters:10,} characters  {document.name}{detail}"
