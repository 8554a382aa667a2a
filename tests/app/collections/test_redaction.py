"""What is left of a run's log after a document that the run read was deleted."""

import asyncpg
import orjson

from app.collections.storage import redaction
from app.domain.run import EventType
from app.runs.storage import events
from app.runs.storage.run_log import RunLog
from tests.app.conftest import NewRun
from tests.app.finished_run import HASH

SECRET = "The harbour dues were paid in salt."


async def test_the_log_keeps_no_words_of_drafts_and_queries(pool: asyncpg.Pool, run_log: RunLog, new_run: NewRun) -> None:
    run_id = await new_run()
    cited = [{"n": 1, "quote": SECRET, "start": 0, "end": len(SECRET), "source": {"url": "u", "title": "t", "snapshot": HASH}}]
    draft = {"section": 1, "heading": "Dues", "markdown": f"{SECRET} [1]", "citations": cited}
    await run_log.append_event(run_id, EventType.SECTION_WRITTEN, "report/section/1", draft)
    call = {"tool": "search", "query": SECRET, "results": 3, "sources": [], "error": ""}
    await run_log.append_event(run_id, EventType.TOOL_CALL, "search/s1", call)
    async with pool.acquire() as connection, connection.transaction():
        await redaction.redact(connection, run_id, HASH)
    log = [orjson.loads(event.body) for event in await events.read_after(pool, run_id, 0)]
    assert SECRET not in str(log)
    told = {event["type"]: event["payload"] for event in log}
    assert told["section_written"] == {"section": 1, "heading": "Dues"}
    assert told["tool_call"] == {"tool": "search", "results": 3, "sources": [], "error": ""}
