"""Collections of a person's own files: named after their folder, built by the retrieval service."""

import asyncio
import hashlib
import os
import re
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

from app.domain.errors import Conflict, InvalidInput
from infra.cli.connection import Connection
from retrieval.catalogue import BuildPhase, CorpusKind
from retrieval.client import IndexClient

POLL = timedelta(milliseconds=150)
UNREADABLE_SHOWN = 5


async def collection_of(connection: Connection, folder: Path, say: Callable[[str], None]) -> str:
    """The name of the collection with the files as they are now in `folder` (a resolved path), ready to search.

    Raises:
        InvalidInput: nothing readable is in it.
    """
    name = collection_name(folder)
    async with index_client(connection) as index:
        await build(index, name, CorpusKind.FOLDER, str(folder), say)
    return name


def index_client(connection: Connection) -> IndexClient:
    """The retrieval service beside the API.

    Raises:
        InvalidInput: the API is elsewhere, and nothing says where its retrieval service is.
    """
    if connection.retrieval is None:
        raise InvalidInput("documents are indexed on the machine that runs the API; set RUBRICA_RETRIEVAL_URL to its service")
    return IndexClient(connection.retrieval)


def collection_name(folder: Path) -> str:
    """A name that is the same for the same folder (a resolved path), and says which one it is."""
    words = re.sub(r"[^a-z0-9]+", "-", folder.name.lower()).strip("-")[:40] or "documents"
    return f"{words}-{hashlib.sha256(os.fsencode(folder)).hexdigest()[:8]}"


async def build(index: IndexClient, name: str, kind: CorpusKind, path: str, say: Callable[[str], None]) -> dict[str, Any]:
    """Build a collection and wait until it can be searched (vectors go on behind); its state.

    Raises:
        InvalidInput: nothing in it could be read.
    """
    try:
        await index.build(name, kind, path)
    except Conflict:
        say(f"{name} is being indexed already; waiting for it")
    told = ""
    while True:
        state = await index.progress(name)
        step = state["build"] or {}
        phase = step.get("phase")
        if phase in (BuildPhase.ENCODING, BuildPhase.DONE, BuildPhase.FAILED):
            break
        if phase and phase != told:
            say(f"{name}: {phase}")
            told = phase
        await asyncio.sleep(POLL.total_seconds())
    _tell_result(name, state, say)
    return state


def _tell_result(name: str, state: dict[str, Any], say: Callable[[str], None]) -> None:
    unreadable = state["unreadable"]
    for entry in unreadable[:UNREADABLE_SHOWN]:
        say(f"  skipped: {' - '.join(str(value) for value in entry.values())}")
    if len(unreadable) > UNREADABLE_SHOWN:
        say(f"  and {len(unreadable) - UNREADABLE_SHOWN} more; `rubrica corpus list --skipped` shows all")
    if state["build"]["phase"] == BuildPhase.FAILED:
        raise InvalidInput(f"{name} could not be indexed: {state['build']['detail']}")
    if not state["documents"]:
        raise InvalidInput(f"nothing readable was found for {name}; Markdown, text, HTML and PDF files are read")
    say(f"{name}: {state['documents']} documents ready")
