"""What `rubrica collections ...` does."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from uuid import UUID

from app.collections.nouns import Collection, DocumentState, OwnDocument
from app.domain.errors import InvalidInput, NotFound
from app.settings import Settings
from infra.cli.client import ApiClient
from infra.cli.connection import connected
from infra.cli.execute import FAILED, say

POLL_S = 0.5
WAITING = (DocumentState.RECEIVED, DocumentState.PARSED)


async def show(settings: Settings) -> int:
    """One line a collection."""
    async with connected(settings, say) as connection:
        for found in await connection.api.collections():
            shared = "" if found.access.everyone else "  restricted"
            print(f"{found.id}  {found.name:32} {found.documents:6,} documents  {found.bytes / 2**20:8,.1f} MiB{shared}")
    return 0


async def create(settings: Settings, name: str) -> int:
    """Make a collection; its id."""
    async with connected(settings, say) as connection:
        print((await connection.api.create_collection(name)).id)
    return 0


async def upload(settings: Settings, name: str, files: Sequence[Path], wait: bool) -> int:
    """Send files, one request each, so that progress shows; 1 when one of them cannot be searched in the end."""
    failed, sent = False, list[UUID]()
    async with connected(settings, say) as connection:
        into = await _find(connection.api, name)
        for path in files:
            try:
                sent.append((await connection.api.upload(into.id, path)).id)
                say(f"{path.name}: received")
            except InvalidInput as error:
                failed = True
                say(f"{path.name}: {error}")
        for document in await _settled(connection.api, into, sent, wait):
            failed |= document.state is DocumentState.FAILED
            print(_described(document))
    return FAILED if failed else 0


async def _settled(api: ApiClient, collection: Collection, sent: Sequence[UUID], wait: bool) -> list[OwnDocument]:
    """What was sent, once all of it is indexed or has failed, or at once."""
    while True:
        held = {document.id: document for document in await api.documents(collection.id)}
        mine = [held[id_] for id_ in sent if id_ in held]
        if not wait or all(document.state not in WAITING for document in mine):
            return mine
        await asyncio.sleep(POLL_S)


async def documents(settings: Settings, name: str) -> int:
    """One line a document."""
    async with connected(settings, say) as connection:
        for document in await connection.api.documents((await _find(connection.api, name)).id):
            print(_described(document))
    return 0


async def remove(settings: Settings, name: str, document: str) -> int:
    """Delete a collection, or one document."""
    async with connected(settings, say) as connection:
        found = await _find(connection.api, name)
        held = await connection.api.documents(found.id) if document else []
        wanted = next((one.id for one in held if document in (one.name, str(one.id))), None)
        if document and wanted is None:
            raise NotFound(f"there is no document {document!r} in {found.name}")
        await connection.api.remove_documents(found.id, wanted)
        say(f"{document or found.name} is being deleted")
    return 0


async def _find(api: ApiClient, name: str) -> Collection:
    for found in await api.collections():
        if name in (found.name, str(found.id)):
            return found
    raise NotFound(f"there is no collection {name!r}; `rubrica collections list` shows those you may use")


def _described(document: OwnDocument) -> str:
    detail = f"  {document.detail}" if document.detail else ""
    return f"{document.id}  {document.state.value:9} {document.characters:10,} characters  {document.name}{detail}"
