"""Make collections of a person's own files. They are named after their folder; the retrieval service builds them."""

import asyncio
import hashlib
import os
import re
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

from app.domain.errors import Conflict, InvalidInput
from infra.cli.build_progress import BuildProgress
from infra.cli.connection import Connection
from infra.cli.progress import count_nouns
from retrieval.corpora.ports import READABLE_KINDS
from retrieval.service.client import IndexClient
from retrieval.store.catalogue import BuildPhase, CorpusKind

POLL = timedelta(milliseconds=150)
SLOWEST_POLL = timedelta(seconds=2)
"""A long build is asked for less often: counting a large collection takes time too."""
UNREADABLE_SHOWN = 5
ENDED = frozenset({BuildPhase.DONE, BuildPhase.FAILED})
SEARCHABLE = ENDED | {BuildPhase.ENCODING}
"""From these phases on, a build can be searched by words, while its vectors are still made."""


async def index_folder(connection: Connection, folder: Path, say: Callable[[str], None]) -> str:
    """Index the files of `folder` (a resolved path) and return the collection's name when it can be searched.

    Raises:
        InvalidInput: the folder holds no file that can be read.
    """
    name = name_of_folder(folder)
    async with open_index(connection) as index:
        try:
            await index.build(name, CorpusKind.FOLDER, str(folder))
        except Conflict:
            say(f"{name} is being indexed already; waiting for it")
        await wait_for_build(index, name, BuildProgress(name, say), SEARCHABLE)
    return name


def open_index(connection: Connection) -> IndexClient:
    """Return a client of the retrieval service beside the API.

    Raises:
        InvalidInput: the API is on another machine, and no setting names its retrieval service.
    """
    if connection.retrieval is None:
        raise InvalidInput("documents are indexed on the machine that runs the API; set RUBRICA_RETRIEVAL_URL to its service")
    return IndexClient(connection.retrieval)


def name_of_folder(folder: Path) -> str:
    """Return a readable name that is always the same for one folder (a resolved path)."""
    words = re.sub(r"[^a-z0-9]+", "-", folder.name.lower()).strip("-")[:40] or "documents"
    return f"{words}-{hashlib.sha256(os.fsencode(folder)).hexdigest()[:8]}"


async def wait_for_build(index: IndexClient, name: str, progress: BuildProgress, until: frozenset[BuildPhase]) -> dict[str, Any]:
    """Wait until a build reaches one of the phases `until`. Return the collection's state.

    Raises:
        InvalidInput: the build failed, or nothing could be read.
    """
    pause = POLL
    while True:
        state = await index.read_progress(name)
        step = state["build"] or {}
        progress(step)
        if step.get("phase") in until:
            break
        await asyncio.sleep(pause.total_seconds())
        pause = min(pause * 1.2, SLOWEST_POLL)
    _say_result(name, state, progress.say)
    return state


def _say_result(name: str, state: dict[str, Any], say: Callable[[str], None]) -> None:
    unreadable = state["unreadable"]
    for entry in unreadable[:UNREADABLE_SHOWN]:
        say(f"  skipped: {' - '.join(str(value) for value in entry.values())}")
    if (more := state["build"]["skipped"] - UNREADABLE_SHOWN) > 0:
        say(f"  and {more:,} more; `rubrica corpus list --skipped` shows all")
    if state["build"]["phase"] == BuildPhase.FAILED:
        raise InvalidInput(f"{name} could not be indexed: {state['build']['detail']}")
    if not state["documents"]:
        raise InvalidInput(f"nothing readable was found for {name}; {READABLE_KINDS} files are read")
    if state["build"]["detail"]:
        say(f"  {state['build']['detail']}")
    say(f"{name}: {count_nouns(state['documents'], 'document')} ready")
