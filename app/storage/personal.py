"""All that is kept about one person, to be handed to them, and to be forgotten. For the trusted connection."""

from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

from app.storage.engine import Executor, translated

EXPORT = """
    SELECT json_build_object(
        'person', (SELECT json_build_object('id', id, 'email', email, 'name', name, 'created_at', created_at,
                                            'has_password', password_hash IS NOT NULL) FROM users WHERE id = $1),
        'identities', (SELECT coalesce(json_agg(json_build_object('issuer', issuer, 'subject', subject)), '[]')
                       FROM identities WHERE user_id = $1),
        'memberships', (SELECT coalesce(json_agg(json_build_object('organisation_id', o.id, 'organisation', o.name,
                                                                   'role', m.role,
                                                                   'joined_at', m.joined_at) ORDER BY m.joined_at), '[]')
                        FROM memberships m JOIN organisations o ON o.id = m.organisation_id WHERE m.user_id = $1),
        'keys', (SELECT coalesce(json_agg(json_build_object('id', id, 'organisation_id', organisation_id, 'name', name,
                                                            'scopes', scopes, 'created_at', created_at, 'expires_at', expires_at,
                                                            'revoked_at', revoked_at, 'last_used_at', last_used_at)
                                          ORDER BY created_at), '[]') FROM api_keys WHERE user_id = $1),
        'sessions', (SELECT coalesce(json_agg(json_build_object('organisation_id', organisation_id, 'created_at', created_at,
                                                                'seen_at', seen_at, 'expires_at', expires_at)
                                              ORDER BY created_at), '[]') FROM sessions WHERE user_id = $1),
        'runs', (SELECT coalesce(json_agg(json_build_object('id', id, 'organisation_id', organisation_id, 'query', query,
                                                            'status', status, 'created_at', created_at)
                                          ORDER BY created_at), '[]') FROM runs WHERE created_by = $1),
        'actions', (SELECT coalesce(json_agg(json_build_object('at', at, 'organisation_id', organisation_id, 'action', action,
                                                               'subject', subject, 'address', address) ORDER BY at), '[]')
                    FROM audit WHERE user_id = $1))::text"""
# Held, so that nobody else leaves, or is made an owner, meanwhile.
PLACES = """
    SELECT o.id, o.name, (SELECT count(*) FROM memberships m WHERE m.organisation_id = o.id) = 1 AS alone,
           NOT EXISTS (SELECT FROM memberships m WHERE m.organisation_id = o.id AND m.role = 'owner' AND m.user_id <> $1)
           AS last_owner
    FROM organisations o WHERE o.id IN (SELECT organisation_id FROM memberships WHERE user_id = $1) ORDER BY o.id FOR UPDATE"""
DISSOLVE = "DELETE FROM organisations WHERE id = $1"
BLUR = """
    UPDATE audit SET address = CASE WHEN user_id = $1 THEN '' ELSE address END,
                     subject = CASE WHEN subject = $1::text THEN '' ELSE subject END
    WHERE user_id = $1 OR subject = $1::text"""
UNINVITE = "DELETE FROM invitations WHERE email = $1"
FORGET = "DELETE FROM users WHERE id = $1"


class Place(NamedTuple):
    """An organisation as somebody leaves it: `alone`, with no other member; `last_owner`, with no other owner."""

    id: UUID
    name: str
    alone: bool
    last_owner: bool


async def export(database: Executor, user: UUID) -> str:
    """As JSON text."""
    async with translated():
        found: str = await database.fetchval(EXPORT, user)
    return found


async def places(database: Executor, user: UUID) -> Sequence[Place]:
    """Where a person is a member, held until the transaction ends."""
    async with translated():
        return [Place(*row) for row in await database.fetch(PLACES, user)]


async def dissolve(database: Executor, organisation: UUID) -> None:
    """Delete an organisation and everything in it."""
    async with translated():
        await database.execute(DISSOLVE, organisation)


async def forget(database: Executor, user: UUID, email: str) -> None:
    """Delete a person: their account, memberships, keys and sessions go; what they did stays, done by nobody from nowhere."""
    async with translated():
        await database.execute(BLUR, user)
        await database.execute(UNINVITE, email)
        await database.execute(FORGET, user)
