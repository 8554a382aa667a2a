"""Questions that may go into a benchmark, as it is now. Consent is asked for in the same statement that reads them.

A question needs the consent of the organisation and of the person who asked, each in force now and given before it was asked. A
question is deleted with the person who asked it.
"""

from collections.abc import AsyncIterator

from asyncpg import Pool, Record

from app.database.engine import translate_outages

# Runs made for other runs repeat a question, those of a fleet come from a data set; those about own documents or of an older
# report cannot be answered elsewhere.
ASKED = """
    SELECT r.id, r.query, r.created_at FROM runs r
        JOIN organisation_consents o ON o.organisation_id = r.organisation_id AND o.since <= r.created_at
        JOIN person_consents p ON p.organisation_id = r.organisation_id AND p.user_id = r.created_by AND p.since <= r.created_at
    WHERE r.made_for IS NULL AND r.fleet_id IS NULL
      AND coalesce(r.query ->> 'tenant', '') = '' AND r.query ->> 'refreshes' IS NULL
    ORDER BY r.created_at, r.id"""


async def read_questions(database: Pool) -> AsyncIterator[Record]:
    """Yield consented questions, oldest first: run, query, time.

    Raises:
        Unavailable: the database does not answer.
    """
    async with translate_outages(), database.acquire() as connection, connection.transaction(readonly=True):
        async for row in connection.cursor(ASKED, prefetch=200):
            yield row
