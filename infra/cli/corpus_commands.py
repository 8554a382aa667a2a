"""What `rubrica corpus ...` does."""

from pathlib import Path
from typing import Any

from app.domain.errors import InvalidInput
from app.settings import Settings
from infra.cli.connection import connected
from infra.cli.documents import build, collection_name, index_client
from infra.cli.execute import say
from retrieval.catalogue import CorpusKind


async def add(settings: Settings, folder: Path, name: str | None, kind: str) -> int:
    """Index files that were not known before."""
    if kind not in tuple(CorpusKind):
        raise InvalidInput(f"{kind!r} is no kind of corpus; there are {', '.join(CorpusKind)}")
    async with connected(settings, say) as connection, index_client(connection) as index:
        state = await build(index, name or collection_name(folder), CorpusKind(kind), str(folder), say)
        print(_described(state))
    return 0


async def show(settings: Settings, skipped: bool) -> int:
    """One line a collection."""
    async with connected(settings, say) as connection, index_client(connection) as index:
        for state in await index.collections():
            print(_described(state))
            for entry in state["unreadable"] if skipped else ():
                print("  skipped: " + " - ".join(str(value) for value in entry.values()))
    return 0


async def rebuild(settings: Settings, name: str) -> int:
    """Index a known collection again."""
    async with connected(settings, say) as connection, index_client(connection) as index:
        known = await index.progress(name)
        print(_described(await build(index, name, CorpusKind(known["kind"]), known["path"], say)))
    return 0


def _described(state: dict[str, Any]) -> str:
    step = state["build"]
    phase = step["phase"] if step else "not built"
    progress = f" {step['done']}/{step['total']}" if step and state["building"] and step["total"] else ""
    dense = "with vectors" if state["dense"] else "words only"
    return f"{state['name']:32} {state['documents']:6} documents  {state['passages']:7} passages  {dense:12} {phase}{progress}"
