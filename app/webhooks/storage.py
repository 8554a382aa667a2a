"""Endpoints and the messages to them. Every function is one statement; a message is written with the change that it reports."""

from collections.abc import Collection, Sequence
from datetime import timedelta
from typing import Any, NamedTuple
from uuid import UUID

from asyncpg import Record

from app.database.engine import Executor, translate_outages
from app.database.noun_columns import columns_of
from app.webhooks.nouns import Delivery, DeliveryState, OutgoingMessage, Webhook, WebhookEvent

COLUMNS = columns_of(Webhook)
CREATE = f"INSERT INTO webhooks (id, url, description, events, secret) VALUES ($1, $2, $3, $4, $5) RETURNING {COLUMNS}"
GET = f"SELECT {COLUMNS} FROM webhooks WHERE id = $1"
# A cursor names the last one that was seen; one that is gone brings nothing.
PAGE = f"""
    SELECT {COLUMNS} FROM webhooks
    WHERE $2::uuid IS NULL OR (created_at, id) < (SELECT b.created_at, b.id FROM webhooks b WHERE b.id = $2)
    ORDER BY created_at DESC, id DESC LIMIT $1"""
COUNT = "SELECT count(*) FROM webhooks"
# What waits for an endpoint that is turned off is not sent any more.
CHANGE = f"""
    WITH given_up AS (
        UPDATE webhook_deliveries SET state = 'failed', next_attempt_at = NULL, error = 'the webhook was turned off'
        WHERE webhook_id = $1 AND state = 'pending' AND $5::boolean IS FALSE)
    UPDATE webhooks SET url = coalesce($2, url), description = coalesce($3, description), events = coalesce($4::text[], events),
        enabled = coalesce($5, enabled), disabled_reason = CASE WHEN $5 IS NULL THEN disabled_reason ELSE '' END,
        failing_since = CASE WHEN $5 THEN NULL ELSE failing_since END
    WHERE id = $1 RETURNING {COLUMNS}"""
ROTATE = f"UPDATE webhooks SET secret = $2 WHERE id = $1 RETURNING {COLUMNS}"
REMOVE = "DELETE FROM webhooks WHERE id = $1 RETURNING true"
SENT = columns_of(Delivery)
TEST = f"""
    INSERT INTO webhook_deliveries (webhook_id, type, body)
    SELECT id, $2, $3 FROM webhooks WHERE id = $1 AND enabled RETURNING {SENT}"""
DELIVERIES = f"""
    SELECT {SENT} FROM webhook_deliveries
    WHERE webhook_id = $1 AND ($4::text IS NULL OR state = $4)
      AND ($3::uuid IS NULL OR (created_at, id) < (SELECT b.created_at, b.id FROM webhook_deliveries b WHERE b.id = $3))
    ORDER BY created_at DESC, id DESC LIMIT $2"""
DELIVERY = f"SELECT {SENT} FROM webhook_deliveries WHERE id = $1"
REPLAY = f"""
    UPDATE webhook_deliveries d SET state = 'pending', attempts = 0, next_attempt_at = now(), delivered_at = NULL
    FROM webhooks w WHERE d.id = $1 AND w.id = d.webhook_id AND w.enabled AND d.state <> 'pending'
    RETURNING {columns_of(Delivery, "d")}"""
TAKE = "SELECT * FROM take_deliveries($1, $2, $3, $4)"
REPORT = "SELECT report_delivery($1, $2, $3, $4, $5, $6, $7)"
NEXT = "SELECT min(next_attempt_at) - now() FROM webhook_deliveries WHERE state = 'pending' AND webhook_id <> ALL($1)"
SWEEP = "DELETE FROM webhook_deliveries WHERE state <> 'pending' AND created_at < (SELECT settled_now()) - $1::interval"


class AttemptReport(NamedTuple):
    """What became of an attempt. `again_in` is None when no other follows; `gone` when the endpoint wants no more at all."""

    delivered: bool
    status: int | None
    error: str
    again_in: timedelta | None
    gone: bool = False


async def create(database: Executor, webhook: UUID, url: str, description: str, events: Sequence[str], secret: str) -> Webhook:
    """Add an endpoint of the organisation in whose name this is done."""
    async with translate_outages():
        row = await database.fetchrow(CREATE, webhook, url, description, list(events), secret)
    assert row is not None
    return _webhook_of(row)


async def get(database: Executor, webhook: UUID) -> Webhook | None:
    """Return the endpoint, or None."""
    async with translate_outages():
        row = await database.fetchrow(GET, webhook)
    return _webhook_of(row) if row else None


async def list_page(database: Executor, limit: int, before: UUID | None) -> Sequence[Webhook]:
    """List up to `limit` endpoints, newest first, older than `before`."""
    async with translate_outages():
        return [_webhook_of(row) for row in await database.fetch(PAGE, limit, before)]


async def count(database: Executor) -> int:
    """Count the endpoints."""
    async with translate_outages():
        found: int = await database.fetchval(COUNT)
    return found


async def change(
    database: Executor,
    webhook: UUID,
    url: str | None,
    description: str | None,
    events: Sequence[str] | None,
    enabled: bool | None,
) -> Webhook | None:
    """Change what is not None. Turned on, an endpoint begins anew: it is not failing."""
    async with translate_outages():
        row = await database.fetchrow(CHANGE, webhook, url, description, None if events is None else list(events), enabled)
    return _webhook_of(row) if row else None


async def rotate(database: Executor, webhook: UUID, secret: str) -> Webhook | None:
    """Set a new secret; the old one signs beside it for a day."""
    async with translate_outages():
        row = await database.fetchrow(ROTATE, webhook, secret)
    return _webhook_of(row) if row else None


async def remove(database: Executor, webhook: UUID) -> bool:
    """Remove an endpoint and its messages. False when there is none."""
    async with translate_outages():
        return bool(await database.fetchval(REMOVE, webhook))


async def add_message(database: Executor, webhook: UUID, kind: WebhookEvent, body: str) -> Delivery | None:
    """Queue one message to one endpoint; None when it is not there or turned off."""
    async with translate_outages():
        row = await database.fetchrow(TEST, webhook, kind, body)
    return _delivery_of(row) if row else None


async def list_deliveries(
    database: Executor, webhook: UUID, limit: int, before: UUID | None, state: DeliveryState | None
) -> Sequence[Delivery]:
    """List up to `limit` messages to an endpoint, newest first, older than `before`."""
    async with translate_outages():
        return [_delivery_of(row) for row in await database.fetch(DELIVERIES, webhook, limit, before, state)]


async def get_delivery(database: Executor, message: UUID) -> Delivery | None:
    """Return the message, or None."""
    async with translate_outages():
        row = await database.fetchrow(DELIVERY, message)
    return _delivery_of(row) if row else None


async def replay(database: Executor, message: UUID) -> Delivery | None:
    """Make a message due again that had come to its end; None when it has not, or its endpoint is turned off."""
    async with translate_outages():
        row = await database.fetchrow(REPLAY, message)
    return _delivery_of(row) if row else None


async def take(
    database: Executor, limit: int, of_each: int, lease: timedelta, busy: Collection[UUID]
) -> Sequence[OutgoingMessage]:
    """Take due messages of all organisations, none of `busy` endpoints; they are due again after `lease` unless reported on."""
    async with translate_outages():
        rows = await database.fetch(TAKE, limit, of_each, lease, list(busy))
    return [_outgoing_of(row) for row in rows]


async def report(database: Executor, message: UUID, told: AttemptReport, patience: timedelta) -> None:
    """Store what became of an attempt. An endpoint that fails for longer than `patience` is turned off."""
    async with translate_outages():
        await database.execute(REPORT, message, told.delivered, told.status, told.error, told.again_in, told.gone, patience)


async def get_next_due(database: Executor, busy: Collection[UUID]) -> timedelta | None:
    """Return how long until the next message is due that is not to one of `busy` endpoints; None when none waits."""
    async with translate_outages():
        found: timedelta | None = await database.fetchval(NEXT, list(busy))
    return found


async def sweep(database: Executor, older_than: timedelta) -> None:
    """Forget messages that came to their end and are older than this."""
    async with translate_outages():
        await database.execute(SWEEP, older_than)


def _webhook_of(row: Record) -> Webhook:
    return Webhook(**dict(row))


def _delivery_of(row: Record) -> Delivery:
    return Delivery(**dict(row))


def _outgoing_of(row: Record) -> OutgoingMessage:
    given: dict[str, Any] = dict(row)
    secrets = tuple(secret for secret in (given.pop("secret"), given.pop("previous_secret")) if secret)
    return OutgoingMessage(**given, secrets=secrets)
