"""How an organisation has its reports written unless a run says otherwise."""

from uuid import UUID

from app.database.engine import Executor, translate_outages
from app.domain.writer import WriterSettings

GET = "SELECT writer FROM writer_defaults LIMIT 1"
SET = """
    INSERT INTO writer_defaults (writer, set_by) VALUES ($1, $2)
    ON CONFLICT (organisation_id) DO UPDATE SET writer = excluded.writer, set_by = excluded.set_by, set_at = now()"""


async def get(database: Executor) -> WriterSettings:
    """Return what the organisation that `database` acts for has set; all defaults when it has set nothing."""
    async with translate_outages():
        found = await database.fetchval(GET)
    return WriterSettings.of_any_version(found) if found else WriterSettings()


async def set_(database: Executor, writer: WriterSettings, user_id: UUID) -> None:
    """Set it."""
    async with translate_outages():
        await database.execute(SET, writer.model_dump_json(), user_id)
