"""Makes what an organisation has beside its run: collections, schedules, pairs to compare, webhooks, links."""

from uuid import UUID, uuid4

import asyncpg

from app.collections.nouns import Access
from app.domain.query import ResearchQuery
from app.domain.revision import TaskKind, TaskRequest
from app.domain.schedules import Timing
from app.domain.writer import Agents, Arrangement, WriterSettings
from app.http.services import Services

CHAIN = WriterSettings(agents=Agents.BRIEF, arrangement=Arrangement.TIME)
RUNS = "/v1/runs/{run_id:uuid}"
DOCUMENT = "INSERT INTO collection_documents (id, organisation_id, collection_id, name, bytes) VALUES ($1, $2, $3, $4, 9)"
CANDIDATE = """
    INSERT INTO candidates (comparison_id, place, organisation_id, digest, title, markdown, shown, report, lineage, tokens,
                            cost_microusd)
    VALUES ($1, $2, $3, $2, $4, $4 || $2, '{"citations": [], "claims": []}', '{}', '{}', 0, 0)"""
TASK = "INSERT INTO annotation_tasks (comparison_id, organisation_id, overlap, created_by) VALUES ($1, $2, 9, $3)"
ASSIGNMENT = """
    INSERT INTO assignments (id, comparison_id, user_id, organisation_id, expires_at)
    VALUES ($1, $2, $3, $4, now() + interval '1 day')"""
DELIVERY = """
    INSERT INTO webhook_deliveries (id, organisation_id, webhook_id, type, body, state, next_attempt_at)
    VALUES ($1, $2, $3, 'run.completed', $4, 'failed', NULL)"""
CHANGE = """
    INSERT INTO report_tasks (id, run_id, kind, base, request, status, detail)
    VALUES ($1, $2, $3, 1, $4::json, 'failed', $5)"""
FLAG = """
    INSERT INTO claim_flags (run_id, claim, user_id, organisation_id, reason, claim_text, report_digest)
    VALUES ($1, 0, $2, $3, $4, $4, 'd')"""

Things = dict[tuple[str, str], str]


async def add_belongings(
    services: Services, database: asyncpg.Pool, organisation: UUID, user: UUID, annotator: UUID, run: UUID, text: str
) -> Things:
    """Make all of it as `user`, for whom this context acts. A pair waits for `annotator`."""
    made: Things = {("", "n"): "1", ("", "k"): "0", ("", "claim"): "0"}
    collection = await services.collections.create(text[:60], Access())
    made["collections", "collection_id"] = str(collection.id)
    made["collections", "document_id"] = str(document := uuid4())
    await database.execute(DOCUMENT, document, organisation, collection.id, text)
    weekly = ResearchQuery(question=f"Again, {text}")
    schedule = await services.schedules.create(text[:60], weekly, Timing(cron="0 8 * * mon"), (), None)
    made["schedules", "schedule_id"] = str(schedule.id)
    made |= await _add_pair(services, database, organisation, user, annotator, run, text)
    made |= await _add_webhook(services, database, organisation, text)
    link = await services.sharing.share(run, 7, None)
    made["runs", "share_id"] = str(link.share.id)
    ended = await services.sharing.share(run, 7, None)
    await services.sharing.revoke(run, ended.share.id)
    made["shared", "token"] = ended.token
    for kind, part in ((TaskKind.REWRITE, "changes"), (TaskKind.QUESTION, "questions")):
        made[f"{RUNS}/{part}/{{task_id:uuid}}", "task_id"] = str(task := uuid4())
        asked = TaskRequest(kind=kind, base=1, section=0, text=text)
        await database.execute(CHANGE, task, run, kind, asked.model_dump_json(), text)
    await database.execute(FLAG, run, user, organisation, text)
    return made


async def _add_pair(
    services: Services, database: asyncpg.Pool, organisation: UUID, user: UUID, annotator: UUID, run: UUID, text: str
) -> Things:
    """Make two reports to compare, which an annotator is to judge."""
    pair = (await services.preferences.comparisons.create(run, CHAIN, user)).id
    for place in ("delivered", "alternative"):
        await database.execute(CANDIDATE, pair, place, organisation, text)
    await database.execute(TASK, pair, organisation, user)
    await database.execute(ASSIGNMENT, assignment := uuid4(), pair, annotator, organisation)
    return {("comparisons", "comparison_id"): str(pair), ("annotations", "assignment_id"): str(assignment)}


async def _add_webhook(services: Services, database: asyncpg.Pool, organisation: UUID, text: str) -> Things:
    hook = (await services.webhooks.create("https://hooks.example.org/x", text, ())).webhook.id
    await database.execute(DELIVERY, delivery := uuid4(), organisation, hook, text)
    return {("webhooks", "webhook_id"): str(hook), ("webhooks", "delivery_id"): str(delivery)}
