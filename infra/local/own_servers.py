"""Looking for model servers on this machine's usual ports, to tell of them where no model is named. None is used unasked."""

import asyncio
from collections.abc import Mapping

import aiohttp
import orjson

from app.own_servers import OWN_SERVERS, OwnServer

LIMIT_S = 1.0
READ_BYTES = 1_000_000
SHOWN = 5


async def find_own_models(servers: Mapping[str, OwnServer] = OWN_SERVERS) -> dict[str, tuple[str, ...]]:
    """Return the names of the models that each server lists, by the word that names the server; without those that list none."""
    timeout = aiohttp.ClientTimeout(total=LIMIT_S)
    async with aiohttp.ClientSession(timeout=timeout) as session:
        listed = await asyncio.gather(*(_list_models(session, server) for server in servers.values()))
    return {word: names for word, names in zip(servers, listed, strict=True) if names}


async def _list_models(session: aiohttp.ClientSession, server: OwnServer) -> tuple[str, ...]:
    try:
        async with session.get(f"{server.base_url}/models", allow_redirects=False) as answer:
            told = orjson.loads(await answer.content.read(READ_BYTES))
        return tuple(str(model["id"]) for model in told["data"])
    except (aiohttp.ClientError, TimeoutError, orjson.JSONDecodeError, KeyError, TypeError):
        return ()  # nothing listens there, or another program


def describe_own_models(found: Mapping[str, tuple[str, ...]]) -> list[str]:
    """Return a line for each server: what it serves, and the word that has a report written by it."""
    return [
        f"{OWN_SERVERS[word].title} serves {', '.join(names[:SHOWN])}{' and others' * (len(names) > SHOWN)} on this machine: "
        f"MODEL={word}/{names[0]} (RUBRICA_LOCAL_MODEL) has it write; it is not used unasked"
        for word, names in found.items()
    ]
