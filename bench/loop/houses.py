"""Organisations with their readers, made by the public API: they sign up, invite, upload a document, and consent."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.client import PATIENCE
from retrieval.search.in_process import open_local
from retrieval.search.library import DEFAULT_COLLECTION
from retrieval.store.catalogue import Collection, CorpusKind
from rubrica_client import AsyncClient, accounts, documents, preferences
from rubrica_client.models import Acceptance, Credentials, DocumentState, Me, NewAccount
from rubrica_client.request import Request

PASSWORD = "a long password for a reader of the demonstration"
COLLECTION, FILE = "harbour books", "harbours.md"
DOCUMENT = "\n\n".join(
    f"# Year {year}\n\nIn the year {year} the keeper of the harbour wrote down each ship that came in. The council of the town "
    f"paid for the lighthouse from the duties on {year - 1500} ships, and the reasons given in its annual messages were the "
    "safety of the channel and the revenue of the treasury."
    for year in range(1801, 1813)
)
POLL_S = 0.3


@dataclass(frozen=True)
class Reader:
    """A person who is signed in."""

    name: str
    client: AsyncClient


@dataclass(frozen=True)
class House:
    """An organisation: its readers, the owner first, and its collection."""

    name: str
    readers: tuple[Reader, ...]
    collection: str = COLLECTION


def prepare_home(home: Path) -> None:
    """Make the document the default collection too: the usual one would be indexed for minutes on all cores."""
    folder = home / "own-documents"
    folder.mkdir(parents=True)
    (folder / FILE).write_text(DOCUMENT)
    open_local(home, Collection(name=DEFAULT_COLLECTION, kind=CorpusKind.FOLDER, path=str(folder))).close()


@asynccontextmanager
async def open_houses(api: str, count: int, readers: int, made: bool = False) -> AsyncIterator[list[House]]:
    """Make so many organisations with so many readers each, who all consent, and sign them in; `made`: they are there already."""
    async with AsyncExitStack() as stack:
        open_one = _enter_house if made else _open_house
        houses = [await open_one(stack, api, f"house-{number}", readers) for number in range(count)]
        if not made:
            await asyncio.gather(*map(_furnish, houses))
        yield houses


async def _enter_house(stack: AsyncExitStack, api: str, name: str, readers: int) -> House:
    return House(name, tuple([await _sign_in(stack, api, _name_reader(name, number)) for number in range(readers)]))


async def _sign_in(stack: AsyncExitStack, api: str, name: str) -> Reader:
    reader = await _open_client(stack, api, name)
    known = Credentials(email=_address_of(reader), password=PASSWORD)
    await reader.client.send(Request("POST", ("v1", "session"), Me, body=known))
    return reader


def _name_reader(house: str, number: int) -> str:
    return f"{house}-reader-{number}" if number else f"{house}-owner"


async def _open_house(stack: AsyncExitStack, api: str, name: str, readers: int) -> House:
    owner = await _sign_up(stack, api, name)
    members = [await _join(stack, api, owner, _name_reader(name, number)) for number in range(1, readers)]
    await owner.client.send(preferences.set_consent(person=True, organisation=True))
    for member in members:
        await member.client.send(preferences.set_consent(person=True))
    return House(name, (owner, *members))


async def _sign_up(stack: AsyncExitStack, api: str, name: str) -> Reader:
    reader = await _open_client(stack, api, _name_reader(name, 0))
    account = NewAccount(organisation=name, email=_address_of(reader), name=reader.name, password=PASSWORD)
    await reader.client.send(Request("POST", ("v1", "sign-up"), Me, body=account))
    return reader


async def _join(stack: AsyncExitStack, api: str, owner: Reader, name: str) -> Reader:
    reader = await _open_client(stack, api, name)
    invited = await owner.client.send(accounts.invite(_address_of(reader), "member"))
    accepted = Acceptance(token=invited.token, name=name, password=PASSWORD)
    await reader.client.send(Request("POST", ("v1", "invitations", "accept"), Me, body=accepted))
    return reader


async def _open_client(stack: AsyncExitStack, api: str, name: str) -> Reader:
    return Reader(name, await stack.enter_async_context(AsyncClient(api, patience=PATIENCE, trust_env=False)))


def _address_of(reader: Reader) -> str:
    return f"{reader.name}@loop.example"


async def _furnish(house: House) -> None:
    """Give an organisation its document, so that its questions are answered from it alone, and wait until it can be searched."""
    client = house.readers[0].client
    made = await client.send(documents.create_collection(house.collection))
    await client.send(documents.upload(made.id, [(FILE, DOCUMENT.encode())]))
    while not all([each.state == DocumentState.INDEXED async for each in client.each(documents.list_(made.id))]):
        await asyncio.sleep(POLL_S)
