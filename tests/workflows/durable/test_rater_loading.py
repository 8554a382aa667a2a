"""The model that rates answers is still being loaded: a run waits for it, says so, and gets what every equal run gets."""

import asyncio
import threading
from collections.abc import Sequence
from pathlib import Path

from aiohttp import web

from app.domain.chat import ToolCall
from app.domain.run import EventType
from retrieval.encoding.answer_rater import RaterWhenHere
from retrieval.ports import SearchFilter
from retrieval.search.in_process import open_local
from retrieval.search.library import Library
from retrieval.search.tenant_index import TenantView
from retrieval.service.client import IndexClient
from retrieval.service.owner import IndexOwner
from retrieval.service.server import create_index_app
from tests.workflows.durable.recorded_run import RecordedRun
from workflows.tools.search import SearchTool

QUESTION = "Which of these texts is the longest of them all?"
TEXTS = ["The mills.", "The mills of the north.", "The mills of the north and of the south."]


class Longest:
    """A model that finds the longest text the best."""

    def rate(self, question: str, texts: Sequence[str]) -> list[float]:
        return [len(text) / 100 for text in texts]


async def test_a_run_waits_for_the_model_and_others_do_not_wait_for_that(desk: RecordedRun, tmp_path: Path) -> None:
    loaded = threading.Event()

    def load() -> Longest:
        loaded.wait()
        return Longest()

    with open_local(tmp_path / "home") as local:
        shelves = local.shelves
        library = Library(shelves.catalogue, shelves.store, shelves.index, lambda: None, rater=RaterWhenHere(load))
        runner = web.AppRunner(create_index_app(IndexOwner(shelves, library, ()), library))
        await runner.setup()
        await web.UnixSite(runner, str(tmp_path / "s")).start()
        async with IndexClient(str(tmp_path / "s")) as client:
            tool = SearchTool(TenantView(client, "someone"), SearchFilter())
            record = await desk.open_record()
            rate = ToolCall(name="search", arguments={"query": QUESTION, "rate": TEXTS})
            waiting = asyncio.create_task(record.use("search/s1", tool, rate))
            while EventType.WAITING not in await desk.list_event_types():
                await asyncio.sleep(0.05)
            compare = ToolCall(name="search", arguments={"query": QUESTION, "compare": TEXTS})
            assert not (await record.use("search/s2", tool, compare)).error
            assert not waiting.done()
            loaded.set()
            rated = await waiting
        await runner.cleanup()
    assert rated.ratings == tuple(len(text) / 100 for text in TEXTS)
