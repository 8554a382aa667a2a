"""The removal of a deleted document from what the runs that read it have stored.

What a report prints and what a reader wrote stay (docs/collections.md).
"""

from uuid import UUID

import orjson

from app.database.engine import Executor, translate_outages
from app.domain.evidence import Finding
from app.domain.run import EventType

FINDINGS = "SELECT stage, result FROM stages WHERE run_id = $1 AND position($2::text::bytea IN result) > 0 FOR UPDATE"
SET_FINDING = "UPDATE stages SET result = $3 WHERE run_id = $1 AND stage = $2"
DROP_TURNS = "DELETE FROM turns WHERE run_id = $1"
DROP_CALLS = "DELETE FROM tool_calls WHERE run_id = $1"
EMPTY_ANSWERS = """
    UPDATE report_tasks SET status = 'failed', detail = $3, answer = NULL
    WHERE run_id = $1 AND position($2 IN answer::text) > 0"""
TOLD = "SELECT seq, payload FROM events WHERE run_id = $1 AND type = $2"
TELL = "UPDATE events SET payload = $3 WHERE run_id = $1 AND seq = $2"
# Reports made to be compared go, unless somebody took one over: then it is a version of their report. Votes and ways stay.
EMPTY_CANDIDATES = """
    WITH quoting AS (
        UPDATE candidates SET title = '', markdown = '', shown = '{}', report = '{}'
        WHERE comparison_id IN (SELECT c.comparison_id FROM candidates c JOIN comparisons p ON p.id = c.comparison_id
                                WHERE (p.run_id = $1 OR p.made_run_id = $1) AND position($2 IN c.report::text) > 0)
        RETURNING comparison_id)
    UPDATE comparisons SET failure = $3 WHERE id IN (SELECT comparison_id FROM quoting)"""
DROP_SECOND_REPORT = """
    DELETE FROM reports p USING runs r
    WHERE p.run_id = $1 AND r.id = $1 AND r.made_for IS NOT NULL AND position($2 IN p.report::text) > 0"""
DROP_CITED = "DELETE FROM run_sources WHERE run_id = $1 AND hash = $2"
DROP_SNAPSHOT = "DELETE FROM snapshots WHERE hash = $1 AND NOT EXISTS (SELECT FROM run_sources s WHERE s.hash = $1)"
PAIR_GONE = "a document that these reports quote was deleted"
ANSWER_GONE = "a document that this answer quoted was deleted; ask again for an answer from what is left"
# What stays of events that repeat what an agent read.
KEPT_OF_EVENTS = {
    EventType.TOOL_CALL: frozenset({"tool", "results", "sources", "error", "note", "url", "part", "limit"}),
    EventType.SECTION_WRITTEN: frozenset({"section", "heading"}),
}


async def redact(connection: Executor, run: UUID, snapshot: str) -> None:
    """Take a text out of what a run that has ended kept of it: turns, tools' results, findings, answers to further questions.

    Agents put words of what they read into what they search for next and into drafts, so the log keeps neither. Reports that
    were to be compared and quote the text go too; what the run itself reported stays. `connection` must have a transaction
    open. The stored copy goes with the last run that cites it.
    """
    async with translate_outages():
        for row in await connection.fetch(FINDINGS, run, snapshot):
            await connection.execute(SET_FINDING, run, row["stage"], _remove_text(row["result"], snapshot))
        for statement in (DROP_TURNS, DROP_CALLS):
            await connection.execute(statement, run)
        for kind, kept in KEPT_OF_EVENTS.items():
            for row in await connection.fetch(TOLD, run, kind):
                await connection.execute(TELL, run, row["seq"], _remove_words(row["payload"], kept))
        await connection.execute(EMPTY_ANSWERS, run, snapshot, ANSWER_GONE)
        await connection.execute(EMPTY_CANDIDATES, run, snapshot, PAIR_GONE)
        await connection.execute(DROP_SECOND_REPORT, run, snapshot)
        await connection.execute(DROP_CITED, run, snapshot)
        await connection.execute(DROP_SNAPSHOT, snapshot)


def _remove_text(result: bytes, snapshot: str) -> bytes:
    """Remove the quotes and passages of a text from a finding, and the agent's words, which may repeat it."""
    finding = Finding.of_any_version(orjson.loads(result))
    kept = [place for place, quote in enumerate(finding.quotes) if quote.source.snapshot != snapshot]
    keys = {finding.quotes[place].key for place in kept}
    emptied = finding.model_copy(
        update={
            "answer": "",
            "thoughts": (),
            "gaps": (),
            "quotes": tuple(finding.quotes[place] for place in kept),
            "passages": tuple(passage for passage in finding.passages if passage.source.snapshot != snapshot),
            "relevance": tuple(finding.relevance[place] for place in kept) if finding.relevance else (),
            "conflicts": tuple(conflict for conflict in finding.conflicts if keys.issuperset(conflict.quote_keys)),
        }
    )
    return emptied.model_dump_json(exclude_defaults=True).encode()


def _remove_words(payload: str, kept: frozenset[str]) -> str:
    """Return what an event tells without the words of an agent."""
    told = orjson.loads(payload)
    return orjson.dumps({name: value for name, value in told.items() if name in kept}).decode()
