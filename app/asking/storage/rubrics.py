"""Rubrics of runs, as drafted and as agreed, and their scorecards. Every function is one statement."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from app.database.engine import Executor, translate_outages
from app.database.json_text import replace_nul
from app.domain.rubric import Rubric
from app.domain.run import EventType
from app.domain.scorecard import Scorecard
from app.runs.storage.run_log import to_json

# Whoever edits: training may learn from it with their consent only.
EDITOR = "nullif(current_setting('rubrica.user', true), '')::uuid"
ADD = f"""
    INSERT INTO run_rubrics (run_id, drafted, rubric, edited_at, edited_by)
    VALUES ($1, $2, $3, CASE WHEN $4 THEN now() END, CASE WHEN $4 THEN {EDITOR} END)
    ON CONFLICT (run_id) DO UPDATE SET drafted = excluded.drafted, rubric = excluded.rubric, edited_at = excluded.edited_at,
                                       edited_by = excluded.edited_by"""
DRAFT = """
    WITH added AS (INSERT INTO run_rubrics (run_id, drafted, rubric) VALUES ($1, $2, $2) ON CONFLICT DO NOTHING RETURNING run_id)
    SELECT append_event(run_id, $3, 'plan', $4) FROM added"""
GET = "SELECT drafted, rubric, edited_at FROM run_rubrics WHERE run_id = $1"
# Once the report stage has begun, the rubric is what the report is judged by. Where another person had changed it before, it has
# the words of both, and names nobody: consent of the last one is not enough.
EDIT = f"""
    WITH edited AS (UPDATE run_rubrics SET rubric = $2, edited_at = now(),
                        edited_by = CASE WHEN edited_at IS NULL OR edited_by = {EDITOR} THEN {EDITOR} END
                    WHERE run_id = $1 AND NOT EXISTS (SELECT FROM stages WHERE run_id = $1 AND stage = 'report') RETURNING run_id)
    SELECT append_event(run_id, $3, 'user', $4) FROM edited"""
SCORE = """
    WITH scored AS (UPDATE run_rubrics SET scorecard = $2 WHERE run_id = $1 AND scorecard IS NULL RETURNING run_id)
    SELECT append_event(run_id, $3, 'report', $4) FROM scored"""
SCORECARD = "SELECT scorecard FROM run_rubrics WHERE run_id = $1"


class StoredRubric(NamedTuple):
    """A run's rubric, and as it was drafted before a person changed it; None where a person wrote it."""

    drafted: Rubric | None
    rubric: Rubric
    edited_at: datetime | None


async def add(database: Executor, run_id: UUID, rubric: Rubric, drafted: Rubric | None) -> None:
    """Keep the rubric that a run is asked with."""
    texts = (replace_nul(drafted.model_dump_json()) if drafted else None, replace_nul(rubric.model_dump_json()))
    async with translate_outages():
        await database.execute(ADD, run_id, *texts, rubric != drafted)


async def add_draft(database: Executor, run_id: UUID, rubric: Rubric) -> None:
    """Keep the rubric that was drafted for a run, unless it has one, appending `rubric_drafted`."""
    told = {"criteria": len(rubric.criteria), "origin": rubric.origin.value, "notice": rubric.notice}
    async with translate_outages():
        await database.execute(DRAFT, run_id, replace_nul(rubric.model_dump_json()), EventType.RUBRIC_DRAFTED, to_json(told))


async def get(database: Executor, run_id: UUID) -> StoredRubric | None:
    """Return the run's rubric, or None."""
    async with translate_outages():
        row = await database.fetchrow(GET, run_id)
    if row is None:
        return None
    drafted = Rubric.of_any_version(row["drafted"]) if row["drafted"] else None
    return StoredRubric(drafted, Rubric.of_any_version(row["rubric"]), row["edited_at"])


async def edit(database: Executor, run_id: UUID, rubric: Rubric) -> bool:
    """Replace the rubric, appending `rubric_edited`; the draft stays. False without one, or once the report is being written."""
    told = {"criteria": len(rubric.criteria)}
    async with translate_outages():
        seq = await database.fetchval(EDIT, run_id, replace_nul(rubric.model_dump_json()), EventType.RUBRIC_EDITED, to_json(told))
    return seq is not None


async def save_scorecard(database: Executor, run_id: UUID, card: Scorecard) -> None:
    """Keep the scorecard of the finished report, appending `scorecard_ready`. The first one stays."""
    told: Mapping[str, Any] = {"overall": card.overall, "judged": card.judged, "criteria": len(card.items)}
    async with translate_outages():
        await database.execute(SCORE, run_id, replace_nul(card.model_dump_json()), EventType.SCORECARD_READY, to_json(told))


async def get_scorecard(database: Executor, run_id: UUID) -> Scorecard | None:
    """Return the scorecard, or None."""
    async with translate_outages():
        text: str | None = await database.fetchval(SCORECARD, run_id)
    return Scorecard.of_any_version(text) if text else None
