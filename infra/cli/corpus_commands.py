"""Do the work of `rubrica corpus ...`."""

from pathlib import Path
from typing import Any

from app.domain.errors import InvalidInput
from app.settings import Settings
from infra.cli.build_progress import BuildProgress
from infra.cli.connection import open_connection
from infra.cli.documents import ENDED, name_of_folder, open_index, wait_for_build
from infra.cli.execute import FAILED, say
from retrieval.store.catalogue import CorpusKind


async def add(settings: Settings, path: Path, name: str | None, kind: str, licence: str) -> int:
    """Make a collection and index it to the last vector."""
    if kind not in tuple(CorpusKind):
        raise InvalidInput(f"{kind!r} is no kind of corpus; there are {', '.join(CorpusKind)}")
    async with open_connection(settings, say) as connection, open_index(connection) as index:
        name = name or name_of_folder(path)
        await index.build(name, CorpusKind(kind), str(path), licence)
        print(_describe_collection(await wait_for_build(index, name, BuildProgress(name, say), ENDED)))
    return 0


async def show_collections(settings: Settings, skipped: bool) -> int:
    """Print one line for each collection."""
    async with open_connection(settings, say) as connection, open_index(connection) as index:
        for state in await index.list_collections():
            print(_describe_collection(state))
            for entry in state["unreadable"] if skipped else ():
                print("  skipped: " + " - ".join(str(value) for value in entry.values()))
    return 0


async def rebuild(settings: Settings, name: str) -> int:
    """Index a known collection again, to the last vector, or go on with a build that was cut off."""
    async with open_connection(settings, say) as connection, open_index(connection) as index:
        known = await index.read_progress(name)
        if not known["building"]:
            await index.build(name, CorpusKind(known["kind"]), known["path"], known["licence"])
        print(_describe_collection(await wait_for_build(index, name, BuildProgress(name, say), ENDED)))
    return 0


async def show_statistics(settings: Settings, name: str) -> int:
    """Print what a collection is made of."""
    async with open_connection(settings, say) as connection, open_index(connection) as index:
        found = await index.read_statistics(name)
    for label, value in _list_statistics(found):
        print(f"{label:14} {value}")
    return 0


async def verify(settings: Settings, name: str) -> int:
    """Check a collection. Return 1 when it has faults."""
    async with open_connection(settings, say) as connection, open_index(connection) as index:
        total = (await index.read_progress(name))["documents"]
        found = await index.verify(name, lambda part: say(f"{name}: {part.get('documents', 0):,} of {total:,} documents checked"))
    print(
        f"{name}: {found['documents']:,} documents, {found['passages']:,} passages, {found['points']:,} points in the index, "
        f"{found['with_vectors']:,} of them with vectors; faults: {found['problems']:,}"
    )
    for example in found["examples"]:
        print(f"  {example}")
    if not found["problems"]:
        return 0
    say(f"`rubrica corpus drop {name}` and `rubrica corpus add` make it anew")
    return FAILED


async def drop(settings: Settings, name: str) -> int:
    """Delete a collection."""
    async with open_connection(settings, say) as connection, open_index(connection) as index:
        await index.remove(name)
    say(f"{name} is deleted")
    return 0


def _describe_collection(state: dict[str, Any]) -> str:
    step = state["build"]
    phase = step["phase"] if step else "not built"
    progress = f" {step['done']:,}/{step['total']:,}" if step and state["building"] and step["total"] else ""
    skipped = f"  {step['skipped']:,} skipped" if step and step["skipped"] else ""
    dense = "with vectors" if state["dense"] else "words only"
    numbers = f"{state['documents']:9,} documents  {state['passages']:10,} passages"
    return f"{state['name']:32} {numbers}  {dense:12} {phase}{progress}{skipped}"


def _list_statistics(found: dict[str, Any]) -> list[tuple[str, str]]:
    return [
        ("documents", f"{found['documents']:,}"),
        ("passages", f"{found['passages']:,}, {found['with_vectors']:,} with vectors ({found['encoder'] or 'no encoder'})"),
        ("languages", _format_shares(found["languages"])),
        ("kinds", _format_shares(found["kinds"])),
        ("licences", _format_shares(found["licences"])),
        ("fetched", f"{(found['fetched_first'] or '-')[:19]} to {(found['fetched_last'] or '-')[:19]}"),
        ("texts", _format_size(found["text_bytes"])),
        ("index", _format_size(found["index_bytes"])),
    ]


def _format_shares(counts: dict[str, int]) -> str:
    return ", ".join(f"{name or 'not stated'} {count:,}" for name, count in counts.items()) or "-"


def _format_size(size: int | None) -> str:
    return "on the Qdrant server" if size is None else f"{size / 2**20:,.1f} MiB on disk"
