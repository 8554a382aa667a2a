"""Drafts for a question before it became a run, with their cost. Every function is one statement."""

from uuid import UUID, uuid4

from app.database.engine import Executor, translate_outages
from app.domain.contract import Draft, DraftKind

ADD = """
    INSERT INTO drafts (id, kind, question, body, model, input_tokens, output_tokens, cost_microusd)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8)"""
# One past its organisation's time has no words any more, only what it used.
GET = "SELECT body FROM drafts WHERE id = $1 AND kind = $2 AND question <> ''"


async def add(database: Executor, kind: DraftKind, question: str, draft: Draft) -> UUID:
    """Keep a draft; its id."""
    draft_id, usage = uuid4(), draft.usage
    spent = (usage.input_tokens, usage.output_tokens, usage.cost_microusd)
    async with translate_outages():
        await database.execute(ADD, draft_id, kind, question, draft.model_dump_json(), draft.model, *spent)
    return draft_id


async def get(database: Executor, draft_id: UUID, kind: DraftKind) -> Draft | None:
    """Return the draft of this id and kind, or None."""
    async with translate_outages():
        body: str | None = await database.fetchval(GET, draft_id, kind)
    return Draft.of_any_version(body) if body else None
