"""Write a finished report to a folder, with all that a reader needs to check it."""

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from app.domain.errors import SetupError
from infra.cli.execute import say
from infra.cli.progress import as_one_line
from infra.cli.written_files import locate_file, write_whole
from rubrica_client import AsyncClient, asking, reports
from rubrica_client.errors import NotFound

FETCHES_AT_ONCE = 8


async def deliver_report(api: AsyncClient, run_id: str, folder: Path, scored: bool = False) -> Path:
    """Write report.md, report.html, evidence.json and the stored copy of each cited source. Return the path of report.md.

    With `scored`, write scorecard.json too. Check each quotation against its stored copy, and say which copies are gone. Write
    each file whole or not at all: a file that a full disk cuts short would look like a report.

    Raises:
        InvalidInput: the API names a file that does not belong there.
        SetupError: the folder cannot be written; the message says how to write the report later.
        ApiError: the run has no report.
    """
    target = locate_file(folder, run_id, "report.md")
    markdown, page, evidence = await asyncio.gather(
        api.send(reports.markdown(run_id)), api.send(reports.page(run_id)), api.send(reports.evidence_file(run_id))
    )
    card = await api.send(asking.scorecard(run_id)) if scored else None
    citations = json.loads(evidence)["citations"]
    names = sorted({c["source"]["snapshot"] for c in citations})
    copies = {name: locate_file(folder, run_id, "sources", f"{name}.txt") for name in names}
    sources = await _fetch_sources(api, names)
    for citation in citations:
        _check_citation(citation, sources)
    try:
        for name, text in sources.items():
            write_whole(copies[name], text.encode())
        write_whole(target.with_name("evidence.json"), evidence)
        if card:
            write_whole(target.with_name("scorecard.json"), card.model_dump_json(indent=1).encode())
        write_whole(target.with_name("report.html"), page)
        write_whole(target, markdown)
    except OSError as error:
        raise SetupError(
            f"the report is finished and kept, but cannot be written to {target.parent}: {error.strerror}; make room there, "
            f"then `rubrica runs watch {run_id}` writes it, or, with `--out FOLDER`, elsewhere"
        ) from error
    return target


async def _fetch_sources(api: AsyncClient, names: list[str]) -> dict[str, str]:
    """Return the stored copies by name, without those of documents that were deleted or may not be read."""
    turn = asyncio.Semaphore(FETCHES_AT_ONCE)

    async def fetch(name: str) -> str | None:
        async with turn:
            try:
                return await api.send(reports.snapshot(name))
            except NotFound:
                return None

    found = zip(names, await asyncio.gather(*(fetch(name) for name in names)), strict=True)
    return {name: text for name, text in found if text is not None}


def _check_citation(citation: Mapping[str, Any], sources: Mapping[str, str]) -> None:
    text = sources.get(citation["source"]["snapshot"])
    if text is None:
        title = as_one_line(citation["source"].get("title"))
        gone = f"the stored copy of {title!r} was deleted, or is not yours to read"
        say(f"citation [{citation['n']}]: {gone}; the report keeps the words that it quotes")
    elif text[citation["start"] : citation["end"]] != citation["quote"]:
        raise SetupError(f"citation [{citation['n']}] does not match its stored source; report this as an error of Rubrica")
