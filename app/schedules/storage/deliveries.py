"""Messages to send, the log of their sending, and who wants none. Every function is one statement."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from asyncpg import Record

from app.database.engine import Executor, translate_outages
from app.database.noun_columns import columns_of
from app.domain.deliveries import MailDelivery, MailState
from app.runs.storage import evidence

DELIVERY = f"SELECT {columns_of(MailDelivery)} FROM deliveries "
# What changed is told, and the first report; that nothing did is told to nobody. Only members of the organisation are written to.
MAKE = """
    WITH wanted AS (
        SELECT f.schedule_id, f.organisation_id, f.due_at, t.address FROM schedule_firings f
        JOIN schedules s ON s.id = f.schedule_id, LATERAL unnest(s.deliver_to) AS t (address)
        WHERE f.schedule_id = $1 AND f.due_at = $2 AND f.outcome IN ('first', 'changed', 'failed') AND s.deleted_at IS NULL
        AND EXISTS (SELECT FROM users u JOIN memberships m ON m.user_id = u.id
                    WHERE u.email = t.address AND m.organisation_id = f.organisation_id)
        AND NOT EXISTS (SELECT FROM unsubscribes n WHERE n.schedule_id = f.schedule_id AND n.address = t.address)),
    made AS (INSERT INTO deliveries (id, schedule_id, organisation_id, due_at, address)
             SELECT gen_random_uuid(), schedule_id, organisation_id, due_at, address FROM wanted
             ON CONFLICT DO NOTHING RETURNING id)
    SELECT id FROM made
    UNION SELECT id FROM deliveries WHERE schedule_id = $1 AND due_at = $2 AND state = 'waiting'"""
GET = DELIVERY + "WHERE id = $1"
# Those of one asking are made in one statement, at the same moment.
PAGE = (
    DELIVERY
    + """WHERE schedule_id = $1
    AND ($3::uuid IS NULL OR (made_at, id) < (SELECT b.made_at, b.id FROM deliveries b WHERE b.id = $3 AND b.schedule_id = $1))
    ORDER BY made_at DESC, id DESC LIMIT $2"""
)
NOTE = """
    UPDATE deliveries SET state = $2, detail = $3, attempts = attempts + 1, sent_at = CASE WHEN $2 = 'sent' THEN now() END
    WHERE id = $1"""
WANTED = """
    SELECT EXISTS (SELECT FROM deliveries d JOIN schedules s ON s.id = d.schedule_id WHERE d.id = $1 AND s.deleted_at IS NULL
                   AND NOT EXISTS (SELECT FROM unsubscribes n WHERE n.schedule_id = d.schedule_id AND n.address = d.address))"""
UNSUBSCRIBE = """
    WITH wanted AS (SELECT schedule_id, organisation_id, address FROM deliveries WHERE id = $1)
    INSERT INTO unsubscribes (schedule_id, organisation_id, address) SELECT * FROM wanted ON CONFLICT DO NOTHING"""
# The reader of a message, whom the rest of the transaction acts for.
ACT_FOR_READER = """
    SELECT set_config('rubrica.organisation', d.organisation_id::text, true),
           set_config('rubrica.user', coalesce((SELECT u.id FROM users u WHERE u.email = d.address)::text, ''), true)
    FROM deliveries d WHERE d.id = $1"""
SCHEDULE_NAME = "SELECT s.name FROM deliveries d JOIN schedules s ON s.id = d.schedule_id WHERE d.id = $1"


async def make(trusted: Executor, schedule: UUID, due_at: datetime) -> Sequence[UUID]:
    """Make the messages that an asking's end calls for, and return them with those of an earlier attempt."""
    async with translate_outages():
        return [row["id"] for row in await trusted.fetch(MAKE, schedule, due_at)]


async def get(trusted: Executor, delivery: UUID) -> MailDelivery | None:
    """Return the message, or None."""
    async with translate_outages():
        row = await trusted.fetchrow(GET, delivery)
    return _delivery_of(row) if row else None


async def list_page(database: Executor, schedule: UUID, limit: int, before: UUID | None) -> Sequence[MailDelivery]:
    """List up to `limit` messages of a schedule, latest first, made before the message `before`."""
    async with translate_outages():
        return [_delivery_of(row) for row in await database.fetch(PAGE, schedule, limit, before)]


async def note(trusted: Executor, delivery: UUID, state: MailState, detail: str = "") -> None:
    """Keep how an attempt went."""
    async with translate_outages():
        await trusted.execute(NOTE, delivery, state, detail[:500])


async def is_wanted(trusted: Executor, delivery: UUID) -> bool:
    """Say whether the message's reader still wants it and its schedule is there."""
    async with translate_outages():
        return bool(await trusted.fetchval(WANTED, delivery))


async def may_read_evidence(connection: Executor, delivery: UUID, runs: Sequence[UUID]) -> bool:
    """Say whether the message's reader may read now what all these runs gathered. `connection` has a transaction open."""
    async with translate_outages():
        await connection.execute(ACT_FOR_READER, delivery)
    return all([await evidence.may_read(connection, run) for run in runs])


async def get_schedule_name(trusted: Executor, delivery: UUID) -> str | None:
    """Return the name of the schedule that a message is about, or None."""
    async with translate_outages():
        found: str | None = await trusted.fetchval(SCHEDULE_NAME, delivery)
    return found


async def unsubscribe(trusted: Executor, delivery: UUID) -> None:
    """Note that its reader wants no more messages about this schedule."""
    async with translate_outages():
        await trusted.execute(UNSUBSCRIBE, delivery)


def _delivery_of(row: Record) -> MailDelivery:
    return MailDelivery(**dict(row))
