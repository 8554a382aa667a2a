"""What may go into training, as it is now. Consent is asked for in the same statement that reads the data, or in its snapshot.

Every row needs the consent of three: the organisation, the person who judged, and the person who asked the question; each in
force now and given before the judgement was made. A row goes with its person (foreign keys), so an erased one has none.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from itertools import groupby
from typing import NamedTuple
from uuid import UUID

import asyncpg
from asyncpg import Record

from app.database.engine import translate_outages
from app.domain.report import READER

CONSENTED = """
    JOIN organisation_consents o ON o.organisation_id = j.organisation_id AND o.since <= j.made_at
    JOIN person_consents reader ON reader.organisation_id = j.organisation_id AND reader.user_id = j.user_id
                               AND reader.since <= j.made_at
    JOIN person_consents asker ON asker.organisation_id = j.organisation_id AND asker.user_id = r.created_by
                              AND asker.since <= j.made_at"""
# A choice that may still be changed is not final; pairs whose answer is known measure attention and are no preferences.
# A pair over other evidence for each report, as a canary of a planner or searcher makes, is none of one evidence.
# Of documents that not all of the organisation may read, a second report quotes more than the one that all may read.
JUDGED = f"""
    FROM choices j
        JOIN viewings v ON v.comparison_id = j.comparison_id AND v.user_id = j.user_id
        JOIN comparisons p ON p.id = j.comparison_id
        JOIN runs r ON r.id = p.run_id
        JOIN candidates d ON d.comparison_id = p.id AND d.place = 'delivered'
        JOIN candidates a ON a.comparison_id = p.id AND a.place = 'alternative'
        LEFT JOIN annotation_tasks t ON t.comparison_id = p.id {CONSENTED}
    WHERE j.made_at >= $1 AND t.gold IS NULL AND p.failure = '' AND p.evidence_digest <> ''
      AND NOT EXISTS (SELECT FROM collection_runs s JOIN collections c ON c.id = s.collection_id
                      WHERE s.run_id = r.id AND NOT c.everyone)
      AND (j.annotation OR v.revealed_at IS NOT NULL OR j.made_at < $2::timestamptz - $3::interval)"""
CHOICES = f"""
    SELECT j.comparison_id, j.user_id, j.organisation_id, j.choice, j.outcome, j.annotation, j.elapsed_seconds, j.made_at,
           j.changed_at, j.changes, v.left_place, v.first_viewed_at, p.evidence_digest, p.run_id, r.query, r.created_by,
           d.markdown AS delivered_text, d.digest AS delivered_digest, d.lineage AS delivered_lineage,
           a.markdown AS alternative_text, a.digest AS alternative_digest, a.lineage AS alternative_lineage {JUDGED}
    ORDER BY j.comparison_id, j.user_id"""
ASKED = f"SELECT r.query ->> 'question' AS question, min(r.created_at) AS asked_at {JUDGED} GROUP BY 1"
# The reports of those choices, with the runs that wrote them: what is read of these runs is read in the same snapshot.
COMPARED = f"""
    SELECT DISTINCT p.run_id, p.made_run_id, d.digest AS delivered_digest, a.digest AS alternative_digest {JUDGED}
    ORDER BY p.run_id, p.made_run_id"""
GATHERED = """
    SELECT r.id, r.query, r.plan, EXISTS (SELECT FROM collection_runs c WHERE c.run_id = r.id) AS own,
           EXISTS (SELECT FROM notes n WHERE n.run_id = r.id) AS noted,
           ARRAY(SELECT s.result FROM stages s WHERE s.run_id = r.id AND s.done AND s.stage LIKE 'search/%' ORDER BY s.stage)
               AS findings,
           ARRAY(SELECT body FROM (SELECT DISTINCT ON (stage, agent, ordinal) seq, body FROM turns
                                   WHERE run_id = r.id AND kind = 'tool' AND stage LIKE 'search/%'
                                   ORDER BY stage, agent, ordinal, revision DESC) AS latest ORDER BY seq) AS tool_turns
    FROM runs r WHERE r.id = $1"""
BEGUN = """
    SELECT (r.created_at AT TIME ZONE 'UTC')::date AS asked_on, EXISTS (SELECT FROM notes n WHERE n.run_id = r.id) AS noted,
           ARRAY(SELECT body FROM (SELECT DISTINCT ON (ordinal) seq, body FROM turns
                                   WHERE run_id = r.id AND stage = 'report' AND agent = 'report' AND kind = 'model'
                                     AND step IN ('outline', 'aggregation')
                                   ORDER BY ordinal, revision DESC) AS latest ORDER BY seq) AS turns
    FROM runs r WHERE r.id = $1"""
RATINGS = f"""
    SELECT j.run_id, j.user_id, j.organisation_id, j.stars, j.comment, j.report_digest, r.query, p.markdown, s.result
    FROM ratings j JOIN runs r ON r.id = j.run_id JOIN reports p ON p.run_id = r.id
        JOIN stages s ON s.run_id = r.id AND s.stage = 'report' {CONSENTED}
    WHERE j.made_at >= $1 ORDER BY j.run_id, j.user_id"""
FLAGS = f"""
    SELECT j.run_id, j.claim, j.user_id, j.organisation_id, j.reason, j.claim_text, j.report_digest, r.query, s.result
    FROM claim_flags j JOIN runs r ON r.id = j.run_id JOIN stages s ON s.run_id = r.id AND s.stage = 'report' {CONSENTED}
    WHERE j.made_at >= $1 ORDER BY j.run_id, j.claim, j.user_id"""
# A section that a reader had worded before has words of everybody who edited the report up to there.
BY_CONSENTING_READERS = f"""(
    coalesce(b.report -> 'sections' -> j.section ->> 'changed_by', '') <> '{READER}'
    OR NOT EXISTS (
        SELECT FROM report_versions w WHERE w.run_id = j.run_id AND w.n <= j.base AND w.origin = 'edited' AND NOT EXISTS (
            SELECT FROM report_tasks e
                JOIN person_consents c ON c.organisation_id = j.organisation_id AND c.user_id = e.created_by
                                      AND c.since <= e.created_at
            WHERE e.run_id = w.run_id AND e.version = w.n)))"""
EDITS = f"""
    SELECT j.id, j.version, j.section, j.user_id, j.organisation_id, r.query, r.created_by, s.result,
           coalesce(b.report, p.report) AS before, coalesce(b.origin, 'delivered') AS base, v.report AS after,
           encode(sha256(convert_to(coalesce(b.report, p.report)::text, 'UTF8')), 'hex') AS report_digest
    FROM (SELECT t.id, t.run_id, t.base, t.version, (t.request ->> 'section')::integer AS section, t.created_by AS user_id,
                 t.created_at AS made_at, r.organisation_id
          FROM report_tasks t JOIN runs r ON r.id = t.run_id WHERE t.kind = 'edit' AND t.status = 'done') j
        JOIN runs r ON r.id = j.run_id JOIN reports p ON p.run_id = j.run_id
        JOIN stages s ON s.run_id = r.id AND s.stage = 'report'
        JOIN report_versions v ON v.run_id = j.run_id AND v.n = j.version
        LEFT JOIN report_versions b ON b.run_id = j.run_id AND b.n = j.base {CONSENTED}
    WHERE j.made_at >= $1 AND {BY_CONSENTING_READERS} ORDER BY j.run_id, j.version"""
# A rubric that one person changed or wrote; one that several changed names nobody. A second report's run has a copy of it.
# Systems that answer one question side by side have copies of one rubric too: the first of them stands for all.
SAID_ONCE = """NOT EXISTS (
    SELECT FROM runs b JOIN run_rubrics f ON f.run_id = b.id AND f.rubric::text = u.rubric::text
    WHERE b.made_for IS NULL AND (b.id = (r.query ->> 'evidence_of')::uuid
                                  OR (b.query ->> 'evidence_of' = r.query ->> 'evidence_of' AND b.id < r.id)))"""
RUBRICS = f"""
    SELECT j.run_id, j.user_id, j.organisation_id, j.drafted, j.rubric, (j.scorecard ->> 'overall')::float AS overall, r.query
    FROM (SELECT u.*, u.edited_by AS user_id, u.edited_at AS made_at, r.organisation_id
          FROM run_rubrics u JOIN runs r ON r.id = u.run_id
          WHERE r.made_for IS NULL AND u.rubric ->> 'origin' = 'reader' AND {SAID_ONCE}) j
        JOIN runs r ON r.id = j.run_id {CONSENTED}
    WHERE j.made_at >= $1 ORDER BY j.run_id"""
GIVEN = f"""
    SELECT (SELECT count(*) FROM choices WHERE made_at >= $1) AS choices,
           (SELECT count(*) FROM ratings WHERE made_at >= $1) AS ratings,
           (SELECT count(*) FROM claim_flags WHERE made_at >= $1) AS flags,
           (SELECT count(*) FROM report_tasks WHERE kind = 'edit' AND status = 'done' AND created_at >= $1) AS edits,
           (SELECT count(*) FROM run_rubrics u JOIN runs r ON r.id = u.run_id
            WHERE r.made_for IS NULL AND u.rubric ->> 'origin' = 'reader' AND u.edited_at >= $1 AND {SAID_ONCE}) AS rubrics,
           (SELECT count(*) FROM organisation_consents) AS organisations, (SELECT count(*) FROM person_consents) AS people"""


class StoredEvidence(NamedTuple):
    """A run with its findings and tool turns, and the first steps of each compared report, by its digest."""

    run: Record
    reports: Mapping[str, Record]


class TrainingSnapshot:
    """The database at one moment: all that is read of it stands together."""

    def __init__(self, connection: asyncpg.pool.PoolConnectionProxy) -> None:
        self._connection = connection

    async def read_choices(self, since: datetime, now: datetime, changeable: timedelta) -> AsyncIterator[Record]:
        """Yield final choices made since, with both reports."""
        async for row in self._connection.cursor(CHOICES, since, now, changeable, prefetch=20):
            yield row

    async def read_asked(self, since: datetime, now: datetime, changeable: timedelta) -> list[tuple[str, datetime]]:
        """Read the questions of those choices, with the time at which each was first asked."""
        rows = await self._connection.fetch(ASKED, since, now, changeable)
        return [(row["question"], row["asked_at"]) for row in rows]

    async def read_evidence(self, since: datetime, now: datetime, changeable: timedelta) -> AsyncIterator["StoredEvidence"]:
        """Yield what the reports of those choices were written from, one run at a time."""
        compared = await self._connection.fetch(COMPARED, since, now, changeable)
        for run_id, rows in groupby(compared, lambda row: row["run_id"]):
            writers: dict[str, UUID] = {}
            for row in rows:
                writers |= {row["alternative_digest"]: row["made_run_id"], row["delivered_digest"]: run_id}
            reports = {digest: await self._read_one(BEGUN, writer) for digest, writer in writers.items()}
            yield StoredEvidence(await self._read_one(GATHERED, run_id), reports)

    async def read_ratings(self, since: datetime) -> AsyncIterator[Record]:
        """Yield stars given since, with the report."""
        async for row in self._connection.cursor(RATINGS, since, prefetch=20):
            yield row

    async def read_flags(self, since: datetime) -> AsyncIterator[Record]:
        """Yield claims flagged since."""
        async for row in self._connection.cursor(FLAGS, since):
            yield row

    async def read_edits(self, since: datetime) -> AsyncIterator[Record]:
        """Yield sections that readers changed since, with the report before and after."""
        async for row in self._connection.cursor(EDITS, since, prefetch=20):
            yield row

    async def read_rubrics(self, since: datetime) -> AsyncIterator[Record]:
        """Yield rubrics that readers changed since, as drafted and as changed."""
        async for row in self._connection.cursor(RUBRICS, since, prefetch=20):
            yield row

    async def count_given(self, since: datetime) -> Record:
        """Count what was said since, whether or not it may be used, and how many consents are in force."""
        return await self._read_one(GIVEN, since)

    async def _read_one(self, statement: str, argument: object) -> Record:
        row = await self._connection.fetchrow(statement, argument)
        assert row is not None
        return row


@asynccontextmanager
async def open_snapshot(database: asyncpg.Pool) -> AsyncIterator[TrainingSnapshot]:
    """Open a view of one moment of the database, over all organisations it shows.

    Raises:
        Unavailable: the database does not answer.
    """
    async with (
        translate_outages(),
        database.acquire() as connection,
        connection.transaction(isolation="repeatable_read", readonly=True),
    ):
        yield TrainingSnapshot(connection)
