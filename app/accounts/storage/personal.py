"""Everything that is stored about one person: its export and its erasure. For the trusted connection."""

from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

from app.database.engine import Executor, translate_outages

# Choices are told as they were sent: which report was which is revealed elsewhere, once. Answers from collections are read where
# it is asked each time who may use these.
ROWS = "coalesce(json_agg(row_to_json(t)), '[]')"
EXPORT = f"""
    SELECT json_build_object(
        'person', (SELECT json_build_object('id', id, 'email', email, 'name', name, 'created_at', created_at,
                                            'verified_at', verified_at, 'has_password', password_hash IS NOT NULL)
                   FROM users WHERE id = $1),
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
                                                                'seen_at', seen_at, 'expires_at', expires_at,
                                                                'address', address)
                                              ORDER BY created_at), '[]') FROM sessions WHERE user_id = $1),
        'runs', (SELECT coalesce(json_agg(json_build_object('id', id, 'organisation_id', organisation_id, 'query', query,
                                                            'status', status, 'created_at', created_at)
                                          ORDER BY created_at), '[]') FROM runs WHERE created_by = $1),
        'further_questions_and_changes', (SELECT {ROWS} FROM (
            SELECT id, run_id, kind, request, created_at,
                   CASE WHEN NOT EXISTS (SELECT FROM collection_runs s WHERE s.run_id = q.run_id) THEN answer END AS answer
            FROM report_tasks q WHERE created_by = $1 ORDER BY created_at, id) AS t),
        'edited_rubrics', (SELECT {ROWS} FROM (SELECT run_id, rubric, edited_at FROM run_rubrics
                                               WHERE edited_by = $1 ORDER BY edited_at, run_id) AS t),
        'choices', (SELECT {ROWS} FROM (SELECT comparison_id, organisation_id, choice, elapsed_seconds, made_at, changed_at
                                        FROM choices WHERE user_id = $1 ORDER BY made_at, comparison_id) AS t),
        'ratings', (SELECT {ROWS} FROM (SELECT run_id, organisation_id, stars, comment, made_at FROM ratings
                                        WHERE user_id = $1 ORDER BY made_at, run_id) AS t),
        'claims_called_wrong', (SELECT {ROWS} FROM (SELECT run_id, organisation_id, claim_text, reason, made_at FROM claim_flags
                                                    WHERE user_id = $1 ORDER BY made_at, run_id, claim) AS t),
        'annotations', (SELECT {ROWS} FROM (SELECT comparison_id, organisation_id, assigned_at, finished_at, skipped
                                            FROM assignments WHERE user_id = $1 ORDER BY assigned_at, id) AS t),
        'consents', (SELECT {ROWS} FROM (SELECT organisation_id, since FROM person_consents
                                         WHERE user_id = $1 ORDER BY organisation_id) AS t),
        'comparisons', (SELECT {ROWS} FROM (SELECT id, organisation_id, run_id, created_at FROM comparisons
                                            WHERE created_by = $1 ORDER BY created_at, id) AS t),
        'schedules', (SELECT {ROWS} FROM (SELECT id, organisation_id, name, query, cron, time_zone, created_at
                                          FROM schedules WHERE created_by = $1 AND deleted_at IS NULL
                                          ORDER BY created_at, id) AS t),
        'mails', (SELECT {ROWS} FROM (SELECT d.schedule_id, d.organisation_id, d.address, d.state, d.made_at, d.sent_at
                                      FROM deliveries d JOIN users u ON u.email = d.address
                                      WHERE u.id = $1 ORDER BY d.made_at, d.id) AS t),
        'collections', (SELECT {ROWS} FROM (SELECT id, organisation_id, name, created_at FROM collections
                                            WHERE created_by = $1 AND deleted_at IS NULL ORDER BY created_at, id) AS t),
        'fleets', (SELECT {ROWS} FROM (SELECT id, organisation_id, questions, created_at FROM fleets
                                       WHERE created_by = $1 ORDER BY created_at, id) AS t),
        'actions', (SELECT coalesce(json_agg(json_build_object('at', at, 'organisation_id', organisation_id, 'action', action,
                                                               'subject', subject, 'address', address) ORDER BY at), '[]')
                    FROM audit WHERE user_id = $1))::text"""
# First the owners are held, as whoever changes them does, then the organisations, so that nobody leaves or is made an owner
# meanwhile. Only the statement after these sees what others did before.
HOLD_OWNERS = """
    SELECT FROM memberships
    WHERE role = 'owner' AND organisation_id IN (SELECT organisation_id FROM memberships WHERE user_id = $1)
    ORDER BY organisation_id, user_id FOR UPDATE"""
HOLD = "SELECT FROM organisations WHERE id IN (SELECT organisation_id FROM memberships WHERE user_id = $1) ORDER BY id FOR UPDATE"
PLACES = """
    SELECT o.id, o.name, (SELECT count(*) FROM memberships m WHERE m.organisation_id = o.id) = 1 AS alone,
           NOT EXISTS (SELECT FROM memberships m WHERE m.organisation_id = o.id AND m.role = 'owner' AND m.user_id <> $1)
           AS last_owner
    FROM organisations o WHERE o.id IN (SELECT organisation_id FROM memberships WHERE user_id = $1) ORDER BY o.id"""
DISSOLVE = "DELETE FROM organisations WHERE id = $1"
# Files, index and workflow service are told of these by their rows, which stay without a word in them until that is done.
COLLECTIONS = "SELECT id FROM collections WHERE organisation_id = $1"
SCHEDULES = "SELECT id FROM schedules WHERE organisation_id = $1"
NAMELESS = "INSERT INTO organisations (id, name) VALUES ($1, '')"
GOING_COLLECTIONS = """
    INSERT INTO collections (id, organisation_id, name, everyone, deleted_at) SELECT unnest($2::uuid[]), $1, '', false, now()"""
GOING_SCHEDULES = """
    INSERT INTO schedules (id, organisation_id, name, query, cron, time_zone, jitter_s, overlap, deleted_at)
    SELECT unnest($2::uuid[]), $1, '', '{}', '', '', 0, 'skip', now()"""
BLUR = """
    UPDATE audit SET address = CASE WHEN user_id = $1 THEN '' ELSE address END,
                     subject = CASE WHEN subject = $1::text THEN '' ELSE subject END
    WHERE user_id = $1 OR subject = $1::text"""
UNINVITE = "DELETE FROM invitations WHERE email = $1"
TAKE_BACK = "DELETE FROM invitations WHERE invited_by = $1"
# Where others named them: who is told of changes, and who may use a collection.
UNADDRESS = "UPDATE schedules SET deliver_to = array_remove(deliver_to, $1) WHERE $1 = ANY (deliver_to)"
UNWRITE = "DELETE FROM deliveries WHERE address = $1"
RESUBSCRIBE = "DELETE FROM unsubscribes WHERE address = $1"
UNADMIT = "UPDATE collections SET users = array_remove(users, $1) WHERE $1 = ANY (users)"
UNREPEAT = """
    DELETE FROM idempotency_keys WHERE owner_id = $1 OR owner_id IN (SELECT id FROM api_keys WHERE user_id = $1)"""
FORGET = "DELETE FROM users WHERE id = $1"


class LeftOrganisation(NamedTuple):
    """An organisation as somebody leaves it: `alone`, with no other member; `last_owner`, with no other owner."""

    id: UUID
    name: str
    alone: bool
    last_owner: bool


async def export(database: Executor, user: UUID) -> str:
    """Return what is stored about a person, as JSON text."""
    async with translate_outages():
        found: str = await database.fetchval(EXPORT, user)
    return found


async def list_organisations(database: Executor, user: UUID) -> Sequence[LeftOrganisation]:
    """List the organisations of a person, held until the transaction ends."""
    async with translate_outages():
        for statement in (HOLD_OWNERS, HOLD):
            await database.execute(statement, user)
        return [LeftOrganisation(*row) for row in await database.fetch(PLACES, user)]


async def dissolve(database: Executor, organisation: UUID) -> None:
    """Delete an organisation and everything in it.

    The ids of its collections and schedules stay, marked as deleted, until what these have outside the database is gone, too.
    """
    async with translate_outages():
        collections = [row["id"] for row in await database.fetch(COLLECTIONS, organisation)]
        schedules = [row["id"] for row in await database.fetch(SCHEDULES, organisation)]
        await database.execute(DISSOLVE, organisation)
        if collections or schedules:
            await database.execute(NAMELESS, organisation)
            await database.execute(GOING_COLLECTIONS, organisation, collections)
            await database.execute(GOING_SCHEDULES, organisation, schedules)


async def forget(database: Executor, user: UUID, email: str) -> None:
    """Delete a person: their account, memberships, keys and sessions go; what they did stays, done by nobody from nowhere."""
    async with translate_outages():
        for statement in (BLUR, UNADMIT, UNREPEAT, TAKE_BACK):
            await database.execute(statement, user)
        for statement in (UNINVITE, UNADDRESS, UNWRITE, RESUBSCRIBE):
            await database.execute(statement, email)
        await database.execute(FORGET, user)
