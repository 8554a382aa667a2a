"""Changes of reports and follow-up questions: asked, being worked on, done."""

from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

import asyncpg
from asyncpg import Record

from app.database.engine import Executor, translate_outages
from app.database.json_text import replace_nul
from app.domain.budget import Usage
from app.domain.errors import Conflict
from app.domain.revision import FollowUp, ReportTask, TaskKind, TaskRequest, TaskStatus

TASK = "SELECT id, run_id, request, status, detail, version, answer, usage, created_at, finished_at FROM report_tasks "
GET = TASK + "WHERE run_id = $1 AND id = $2"
QUESTION = TASK + "WHERE id = $1 AND kind = 'question'"
PAGE = (
    TASK
    + """
    WHERE run_id = $1 AND CASE WHEN $2 THEN kind = 'question' ELSE kind IN ('edit', 'rewrite', 'deepen') END
      AND ($4::uuid IS NULL OR (created_at, id) < (SELECT created_at, id FROM report_tasks WHERE id = $4 AND run_id = $1))
    ORDER BY created_at DESC, id DESC LIMIT $3"""
)
ADD = "INSERT INTO report_tasks (id, run_id, kind, base, request) VALUES ($1, $2, $3, $4, $5)"
UNDER_WAY = (
    "SELECT EXISTS (SELECT FROM report_tasks WHERE run_id = $1 AND base = $2"
    " AND kind IN ('edit', 'rewrite', 'deepen') AND status <> 'failed')"
)
LAST_SCORING = TASK + "WHERE run_id = $1 AND kind = 'score' ORDER BY created_at DESC, id DESC LIMIT 1"
FINISH = """
    UPDATE report_tasks SET status = $3, detail = $4, version = $5, answer = $6, usage = $7, finished_at = now()
    WHERE run_id = $1 AND id = $2 AND status = 'queued'"""
LEFT = """
    SELECT run_id, id FROM report_tasks WHERE status = 'queued' AND created_at NOT BETWEEN now() - $1::interval AND now()
    ORDER BY created_at LIMIT $2"""


async def add(database: Executor, run_id: UUID, task_id: UUID, request: TaskRequest) -> None:
    """Keep a task before anybody works on it.

    Raises:
        Conflict: another change of the same version was asked for already, or the report is being judged.
    """
    try:
        async with translate_outages():
            await database.execute(ADD, task_id, run_id, request.kind, request.base, request.model_dump_json())
    except asyncpg.UniqueViolationError as error:
        if request.kind is TaskKind.SCORE:
            raise Conflict(f"the report of run {run_id} is being judged; wait for its scorecard") from error
        raise Conflict(
            f"another change of version {request.base} is under way or done; wait for it and begin with its result"
        ) from error


async def get(database: Executor, run_id: UUID, task_id: UUID) -> ReportTask | None:
    """Return the task, or None."""
    async with translate_outages():
        row = await database.fetchrow(GET, run_id, task_id)
    return _task_of(row) if row else None


async def find_question(database: Executor, task_id: UUID) -> ReportTask | None:
    """Return the further question of this id, or None."""
    async with translate_outages():
        row = await database.fetchrow(QUESTION, task_id)
    return _task_of(row) if row else None


async def list_page(database: Executor, run_id: UUID, questions: bool, limit: int, before: UUID | None) -> Sequence[ReportTask]:
    """List up to `limit` questions, or else changes, newest first, older than `before`."""
    async with translate_outages():
        rows = await database.fetch(PAGE, run_id, questions, limit, before)
    return [_task_of(row) for row in rows]


async def has_change_under_way(database: Executor, run_id: UUID, base: int) -> bool:
    """Say whether a change of this version was asked for and did not fail."""
    async with translate_outages():
        found: bool = await database.fetchval(UNDER_WAY, run_id, base)
    return found


async def find_last_scoring(database: Executor, run_id: UUID) -> ReportTask | None:
    """Return the latest judging of the report by a rubric it was not asked with, or None."""
    async with translate_outages():
        row = await database.fetchrow(LAST_SCORING, run_id)
    return _task_of(row) if row else None


async def finish(
    database: Executor,
    run_id: UUID,
    task_id: UUID,
    status: TaskStatus,
    detail: str = "",
    version: int | None = None,
    answer: FollowUp | None = None,
    usage: Usage | None = None,
) -> None:
    """End a task; one that has ended stays as it is."""
    async with translate_outages():
        await database.execute(
            FINISH,
            run_id,
            task_id,
            status,
            detail.replace("\x00", ""),
            version,
            replace_nul(answer.model_dump_json()) if answer else None,
            (usage or Usage()).model_dump_json(),
        )


async def list_left_behind(database: Executor, older_than: timedelta, limit: int) -> Sequence[tuple[UUID, UUID]]:
    """Run and id of tasks that have waited longer than `older_than`, oldest first: each must have a workflow."""
    async with translate_outages():
        return [(row["run_id"], row["id"]) for row in await database.fetch(LEFT, older_than, limit)]


def _task_of(row: Record) -> ReportTask:
    return ReportTask(
        id=row["id"],
        run_id=row["run_id"],
        request=TaskRequest.of_any_version(row["request"]),
        status=TaskStatus(row["status"]),
        detail=row["detail"],
        version=row["version"],
        answer=FollowUp.of_any_version(row["answer"]) if row["answer"] else None,
        usage=Usage.of_any_version(row["usage"]) if row["usage"] else Usage(),
        created_at=row["created_at"],
        finished_at=row["finished_at"],
    )
