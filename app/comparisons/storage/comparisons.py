"""Comparisons: two reports over one run's evidence, kept word for word, and how each reader was shown them."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from app.database.engine import Executor, translate_outages
from app.domain.query import ResearchQuery
from app.domain.revision import DELIVERED
from app.domain.run import EventType
from app.domain.writer import ReportLineage
from app.models.storage.resolution import replace_gone
from app.preferences.nouns.feedback import CandidatePlace, Viewing
from app.runs.storage.run_log import to_json

SEARCHES = "SELECT stage, result FROM stages WHERE run_id = $1 AND done AND stage LIKE 'search/%' ORDER BY stage"
# One statement, so that there is no run of which no comparison knows: it would be paid for, and nobody could see it.
CREATE = """
    WITH made AS (SELECT create_candidate($1, $2, $3, $4, $5, $6, $7, $8, $9, $10))
    INSERT INTO comparisons (id, run_id, made_run_id, created_by, evidence_digest) SELECT $11, $2, $1, $12, $13 FROM made"""
COMPARISON = """
    SELECT c.id, c.run_id, c.made_run_id, c.created_by, c.evidence_digest, c.failure, c.created_at, r.query,
           EXISTS (SELECT FROM candidates WHERE comparison_id = c.id) AS ready,
           EXISTS (SELECT FROM choices WHERE comparison_id = c.id AND user_id = $2) AS chosen
    FROM comparisons c JOIN runs r ON r.id = c.run_id """
GET = COMPARISON + "WHERE c.id = $1"
PAGE = (
    COMPARISON
    + """
    WHERE ($1::uuid IS NULL OR c.run_id = $1)
      AND ($3::uuid IS NULL OR (c.created_at, c.id) < (SELECT created_at, id FROM comparisons WHERE id = $3))
    ORDER BY c.created_at DESC, c.id DESC LIMIT $4"""
)
FAIL = "UPDATE comparisons SET failure = $2 WHERE id = $1 AND failure = ''"
WRITTEN = """
    SELECT p.report, s.result, l.input_tokens + l.output_tokens AS tokens, l.cost_microusd, l.model_calls
    FROM reports p JOIN stages s ON s.run_id = p.run_id AND s.stage = 'report' JOIN ledgers l ON l.run_id = p.run_id
    WHERE p.run_id = $1"""
KEEP = """
    INSERT INTO candidates (comparison_id, place, digest, title, markdown, shown, report, lineage, tokens, cost_microusd)
    SELECT * FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::json[], $7::json[], $8::json[],
                         $9::bigint[], $10::bigint[]) ON CONFLICT DO NOTHING"""
CANDIDATES = (
    "SELECT place, digest, title, markdown, shown, lineage, tokens, cost_microusd FROM candidates WHERE comparison_id = $1"
)
# Whoever is the first sees what the draw says; the next the other way round: over a pair's readers the sides are balanced.
VIEW = """
    INSERT INTO viewings (comparison_id, user_id, left_place)
    SELECT $1, $2, CASE WHEN v.delivered < v.alternative THEN 'delivered'
                        WHEN v.delivered > v.alternative THEN 'alternative' ELSE $3 END
    FROM (SELECT count(*) FILTER (WHERE left_place = 'delivered') AS delivered,
                 count(*) FILTER (WHERE left_place = 'alternative') AS alternative FROM viewings WHERE comparison_id = $1) v
    ON CONFLICT DO NOTHING"""
VIEWING = "SELECT left_place, first_viewed_at, revealed_at FROM viewings WHERE comparison_id = $1 AND user_id = $2"
REVEAL = """
    UPDATE viewings v SET revealed_at = coalesce(revealed_at, now())
    WHERE comparison_id = $1 AND user_id = $2 AND EXISTS (SELECT FROM choices c WHERE c.comparison_id = $1 AND c.user_id = $2)"""

# Only a report that nobody has changed since it was compared, and only for whoever had it compared.
ADOPT = """
    INSERT INTO report_versions (run_id, n, origin, based_on, usage, report, markdown, html, evidence)
    SELECT c.run_id, $3 + 1, 'chosen', $3,
           json_build_object('model_calls', l.model_calls, 'tool_calls', l.tool_calls, 'input_tokens', l.input_tokens,
                             'output_tokens', l.output_tokens, 'cost_microusd', l.cost_microusd),
           p.report, p.markdown, p.html, replace(p.evidence::text, c.made_run_id::text, c.run_id::text)::json
    FROM comparisons c JOIN choices j ON j.comparison_id = c.id AND j.user_id = c.created_by AND j.outcome = 'alternative'
        JOIN reports p ON p.run_id = c.made_run_id JOIN ledgers l ON l.run_id = c.made_run_id
    WHERE c.id = $1 AND c.created_by = $2 AND NOT EXISTS (SELECT FROM report_versions v WHERE v.run_id = c.run_id)
      AND NOT EXISTS (SELECT FROM report_tasks t WHERE t.run_id = c.run_id AND t.status = 'queued'
                      AND t.kind IN ('edit', 'rewrite', 'deepen'))
    ON CONFLICT DO NOTHING RETURNING n"""


class ComparisonPlan(NamedTuple):
    """What is to be compared: a run's report, and one over the same evidence that a new run writes as `query` says.

    `created_by` is None where a canary asks. `evidence_digest` is empty where the second run searches anew.
    """

    id: UUID
    run_id: UUID
    made_run_id: UUID
    query: ResearchQuery
    evidence_digest: str
    created_by: UUID | None


class Comparison(NamedTuple):
    """A comparison as one reader may know it: `chosen` tells whether they chose. `ready`: its candidates are kept."""

    id: UUID
    run_id: UUID
    made_run_id: UUID
    created_by: UUID | None
    evidence_digest: str
    failure: str
    created_at: datetime
    query: ResearchQuery
    ready: bool
    chosen: bool


class Candidate(NamedTuple):
    """A kept candidate. `shown` is what a reader sees beside the text: citations and claims, as JSON text."""

    place: CandidatePlace
    digest: str
    title: str
    markdown: str
    shown: str
    lineage: ReportLineage
    tokens: int
    cost_microusd: int


class WrittenReport(NamedTuple):
    """A finished run's report and the result of its report stage, both JSON, with what the run spent."""

    report: str
    result: bytes
    tokens: int
    cost_microusd: int
    model_calls: int


async def list_searches(database: Executor, run_id: UUID) -> dict[str, bytes]:
    """Return the results of the run's finished searches by stage name."""
    async with translate_outages():
        return {row["stage"]: row["result"] for row in await database.fetch(SEARCHES, run_id)}


async def create(database: Executor, new: ComparisonPlan, missing: Mapping[str, bytes]) -> None:
    """Add a comparison, and the run that writes its second report; `missing` are results for searches that left none.

    Its roles keep the first run's models, so that the two differ in what was asked alone, unless one is gone.
    """
    query = new.query.model_copy(update={"models": await replace_gone(database, new.query.models)})
    budget = query.budget
    event = {"question": query.question, "system": query.system, "effort": query.effort, "language": query.language}
    async with translate_outages():
        await database.execute(
            CREATE,
            new.made_run_id,
            new.run_id,
            query.model_dump_json(),
            budget.max_tokens,
            budget.max_cost_microusd,
            budget.max_seconds,
            EventType.RUN_CREATED,
            to_json(event),
            list(missing),
            list(missing.values()),
            new.id,
            new.created_by,
            new.evidence_digest,
        )


async def get(database: Executor, id_: UUID, user_id: UUID) -> Comparison | None:
    """Return the comparison as this reader may know it, or None."""
    async with translate_outages():
        row = await database.fetchrow(GET, id_, user_id)
    return _comparison_of(row) if row else None


async def list_page(
    database: Executor, user_id: UUID, run_id: UUID | None, before: UUID | None, limit: int
) -> Sequence[Comparison]:
    """List up to `limit` comparisons (of one run), newest first, older than `before`."""
    async with translate_outages():
        return [_comparison_of(row) for row in await database.fetch(PAGE, run_id, user_id, before, limit)]


async def fail(database: Executor, id_: UUID, why: str) -> None:
    """Note that there will be nothing to compare; the first reason stays."""
    async with translate_outages():
        await database.execute(FAIL, id_, why)


async def get_written(database: Executor, run_id: UUID) -> WrittenReport | None:
    """Return what a finished run wrote, or None."""
    async with translate_outages():
        row = await database.fetchrow(WRITTEN, run_id)
    return WrittenReport(*row) if row else None


async def keep(database: Executor, id_: UUID, candidates: Sequence[Candidate], reports: Sequence[str]) -> None:
    """Keep both candidates with the whole reports they show, unless they are kept already."""
    columns: list[list[Any]] = [
        [id_ for _ in candidates],
        [c.place.value for c in candidates],
        [c.digest for c in candidates],
        [c.title for c in candidates],
        [c.markdown for c in candidates],
        [c.shown for c in candidates],
        list(reports),
        [c.lineage.model_dump_json() for c in candidates],
        [c.tokens for c in candidates],
        [c.cost_microusd for c in candidates],
    ]
    async with translate_outages():
        await database.execute(KEEP, *columns)


async def get_candidates(database: Executor, id_: UUID) -> dict[CandidatePlace, Candidate]:
    """Return the kept candidates by place; none before they are kept."""
    async with translate_outages():
        rows = await database.fetch(CANDIDATES, id_)
    found = [
        Candidate(CandidatePlace(r[0]), r[1], r[2], r[3], r[4], ReportLineage.of_any_version(r[5]), r[6], r[7]) for r in rows
    ]
    return {candidate.place: candidate for candidate in found}


async def note_view(database: Executor, id_: UUID, user_id: UUID, drawn: CandidatePlace) -> None:
    """Note that this reader looks, and how they are shown the two: `drawn` goes left unless an earlier reader decides it."""
    async with translate_outages():
        await database.execute(VIEW, id_, user_id, drawn)


async def get_viewing(database: Executor, id_: UUID, user_id: UUID) -> Viewing | None:
    """Return how this reader is shown the comparison; None before they looked."""
    async with translate_outages():
        row = await database.fetchrow(VIEWING, id_, user_id)
    return Viewing(left=CandidatePlace(row[0]), first_viewed_at=row[1], revealed_at=row[2]) if row else None


async def reveal(database: Executor, id_: UUID, user_id: UUID) -> None:
    """Note that this reader, who has chosen, was told which is which; without a choice nothing happens."""
    async with translate_outages():
        await database.execute(REVEAL, id_, user_id)


async def adopt(database: Executor, id_: UUID, user_id: UUID) -> int | None:
    """Make the second report, which this reader asked for and preferred, the run's current version; the version's number.

    None: they preferred another, did not ask for it, or the run's report has changed since.
    """
    async with translate_outages():
        n: int | None = await database.fetchval(ADOPT, id_, user_id, DELIVERED)
    return n


def _comparison_of(row: Any) -> Comparison:
    values = dict(row)
    return Comparison(**values | {"query": ResearchQuery.of_any_version(values["query"])})
