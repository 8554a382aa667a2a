"""What lets somebody act as a person, and what they set up to be told of things: listed and ended. For the trusted connection."""

from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from typing import NamedTuple
from uuid import UUID

from app.accounts.nouns.access_list import AccessItem, AccessKind
from app.database.engine import Executor, translate_outages

# The tokens of one session began at the same moment. An identity has no id of its own either.
SESSION = "md5(s.user_id::text || s.organisation_id || extract(epoch FROM s.created_at))::uuid"
IDENTITY = "md5(i.issuer || ' ' || i.subject)::uuid"
LIST = f"""
    SELECT item.*, coalesce(o.name, '') AS organisation FROM (
        SELECT 'session' AS kind, {SESSION} AS id, s.organisation_id, '' AS name, min(s.address) AS address,
               s.created_at, max(s.seen_at) AS last_used_at, max(s.expires_at) AS expires_at,
               bool_or(s.token_hash = $2) AS current
        FROM sessions s WHERE s.user_id = $1 AND s.expires_at > now() AND s.seen_at > now() - $4::interval
        GROUP BY s.user_id, s.organisation_id, s.created_at
        UNION ALL
        SELECT 'key', k.id, k.organisation_id, k.name, '', k.created_at, k.last_used_at, k.expires_at,
               k.id IS NOT DISTINCT FROM $3
        FROM api_keys k WHERE k.user_id = $1 AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > now())
        UNION ALL
        SELECT 'identity', {IDENTITY}, NULL, i.issuer, '', i.created_at, NULL, NULL, false FROM identities i WHERE i.user_id = $1
        UNION ALL
        SELECT 'invitation', v.id, v.organisation_id, v.email, '', v.created_at, NULL, v.expires_at, false
        FROM invitations v WHERE v.invited_by = $1 AND v.expires_at > now()
        UNION ALL
        SELECT 'webhook', w.id, w.organisation_id, w.url, '', w.created_at, NULL, NULL, false FROM webhooks w
        WHERE w.organisation_id IN (SELECT organisation_id FROM memberships WHERE user_id = $1)
          AND EXISTS (SELECT FROM audit a WHERE a.organisation_id = w.organisation_id AND a.user_id = $1
                      AND a.subject = w.id::text AND a.action IN ('webhook_made', 'webhook_changed', 'webhook_secret_changed'))
    ) AS item LEFT JOIN organisations o ON o.id = item.organisation_id
    ORDER BY array_position(ARRAY['session', 'key', 'identity', 'invitation', 'webhook'], item.kind), item.created_at DESC,
             item.id"""
# Whoever exchanges a session's token, makes a key or invites meanwhile holds one of these: the end waits, and sees that too.
HOLD = (
    "SELECT FROM sessions WHERE user_id = $1 ORDER BY token_hash FOR UPDATE",
    "SELECT FROM api_keys WHERE user_id = $1 ORDER BY id FOR UPDATE",
    "SELECT FROM memberships WHERE user_id = $1 ORDER BY organisation_id FOR UPDATE",
    "SELECT FROM users WHERE id = $1 FOR UPDATE",
)
END: Mapping[AccessKind, str] = {
    AccessKind.SESSION: f"""
        DELETE FROM sessions s WHERE s.user_id = $1 AND {SESSION} <> ALL ($2::uuid[])
        RETURNING {SESSION} AS id, s.organisation_id, to_char(s.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI') AS name""",
    AccessKind.KEY: """
        UPDATE api_keys SET revoked_at = now() WHERE user_id = $1 AND revoked_at IS NULL AND id <> ALL ($2::uuid[])
        RETURNING id, organisation_id, name""",
    AccessKind.IDENTITY: f"""
        DELETE FROM identities i WHERE i.user_id = $1 AND {IDENTITY} <> ALL ($2::uuid[])
        RETURNING {IDENTITY} AS id, NULL::uuid AS organisation_id, i.issuer AS name""",
    AccessKind.INVITATION: """
        DELETE FROM invitations WHERE invited_by = $1 AND id <> ALL ($2::uuid[])
        RETURNING id, organisation_id, '' AS name""",
}


class EndedAccess(NamedTuple):
    """Something that has ended: in an organisation or, as an identity, in none. `name`: of a session when it began (UTC)."""

    kind: AccessKind
    id: UUID
    organisation: UUID | None
    name: str


async def list_access(database: Executor, user: UUID, token_hash: bytes, key: UUID | None, idle: timedelta) -> list[AccessItem]:
    """List a person's sessions, keys, identities, open invitations and webhooks; `token_hash` or `key` is what asks."""
    async with translate_outages():
        rows = await database.fetch(LIST, user, token_hash, key, idle)
    return [AccessItem(**dict(row)) for row in rows]


async def end_access(database: Executor, user: UUID, keep: Collection[UUID] = ()) -> Sequence[EndedAccess]:
    """End everything by which somebody can act as a person or come back, but what is kept by its id. For a transaction."""
    ended: dict[UUID, EndedAccess] = {}
    async with translate_outages():
        for statement in HOLD:
            await database.execute(statement, user)
        for kind, statement in END.items():
            for row in await database.fetch(statement, user, list(keep)):
                ended[row["id"]] = EndedAccess(kind, row["id"], row["organisation_id"], row["name"])
    return list(ended.values())
