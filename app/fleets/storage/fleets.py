"""Fleets and their questions, as the people who run them see them. Every function is one statement."""

from collections.abc import Sequence
from uuid import UUID

from app.database.engine import Executor, translate_outages
from app.domain.fleets import Fleet, FleetEnd, FleetInput, FleetQuestion, FleetWish

MAKE = "INSERT INTO fleets (id, at_once) VALUES ($1, $2) ON CONFLICT DO NOTHING"
GET = """
    SELECT id, at_once, wish, gathered, questions, ended, detail, created_at, ended_at,
           (SELECT count(*) FROM fleet_questions q
            WHERE q.fleet_id = f.id AND q.run_id IS NOT NULL AND q.number IS NULL) AS under_way
    FROM fleets f WHERE id = $1 AND organisation_id = current_organisation()"""
# The fleet's row is taken first, so that positions have no gaps and nothing is added to a fleet that is complete.
ADD = """
    WITH mine AS (SELECT id, organisation_id, questions FROM fleets
                  WHERE id = $1 AND organisation_id = current_organisation() AND NOT gathered AND ended_at IS NULL FOR UPDATE),
         given AS (SELECT * FROM unnest($2::text[], $3::json[]) WITH ORDINALITY AS g (name, query, place)),
         new AS (SELECT g.name, g.query, row_number() OVER (ORDER BY g.place) AS place FROM given g, mine
                 WHERE NOT EXISTS (SELECT FROM fleet_questions q WHERE q.fleet_id = mine.id AND q.name = g.name)),
         added AS (INSERT INTO fleet_questions (fleet_id, position, organisation_id, name, query)
                   SELECT mine.id, mine.questions + new.place, mine.organisation_id, new.name, new.query FROM new, mine
                   RETURNING position)
    UPDATE fleets f SET questions = f.questions + (SELECT count(*) FROM added), revision = f.revision + 1
    FROM mine WHERE f.id = mine.id RETURNING true"""
GATHERED = """
    UPDATE fleets SET gathered = true, revision = revision + 1
    WHERE id = $1 AND organisation_id = current_organisation() RETURNING true"""
SET_WISH = """
    UPDATE fleets SET wish = $2, detail = '', revision = revision + 1
    WHERE id = $1 AND organisation_id = current_organisation() AND ended_at IS NULL AND wish <> 'cancel' RETURNING true"""
ENDS = """
    SELECT q.number, q.name, q.run_id, q.status, q.detail FROM fleet_questions q JOIN fleets f ON f.id = q.fleet_id
    WHERE q.fleet_id = $1 AND f.organisation_id = current_organisation() AND q.number > $2 ORDER BY q.number LIMIT $3"""
# Those that a workflow has something to do for: an idle one starts with the next question or wish.
AT_WORK = """
    SELECT f.id, f.organisation_id FROM fleets f WHERE f.ended_at IS NULL
      AND (f.wish = 'cancel' OR f.gathered
           OR EXISTS (SELECT FROM fleet_questions q WHERE q.fleet_id = f.id AND q.number IS NULL
                                                      AND (f.wish = 'go' OR q.run_id IS NOT NULL)))"""


async def make(database: Executor, fleet: UUID, at_once: int) -> None:
    """Make the fleet, unless there is one of this id."""
    async with translate_outages():
        await database.execute(MAKE, fleet, at_once)


async def get(database: Executor, fleet: UUID) -> Fleet | None:
    """Return the fleet, or None."""
    async with translate_outages():
        row = await database.fetchrow(GET, fleet)
    return Fleet.of_any_version(dict(row)) if row else None


async def add(database: Executor, fleet: UUID, questions: Sequence[FleetQuestion]) -> bool:
    """Append those whose names are new; False when nothing can be added to this fleet."""
    names, queries = [q.name for q in questions], [q.query.model_dump_json() for q in questions]
    async with translate_outages():
        return bool(await database.fetchval(ADD, fleet, names, queries))


async def note_gathered(database: Executor, fleet: UUID) -> bool:
    """Note that no further questions come; False without such a fleet."""
    async with translate_outages():
        return bool(await database.fetchval(GATHERED, fleet))


async def set_wish(database: Executor, fleet: UUID, wish: FleetWish) -> bool:
    """Note what is wished; False when the fleet has ended or is being cancelled."""
    async with translate_outages():
        return bool(await database.fetchval(SET_WISH, fleet, wish))


async def list_ends(database: Executor, fleet: UUID, after: int, limit: int) -> Sequence[FleetEnd]:
    """List up to `limit` ends that come after number `after`, in order."""
    async with translate_outages():
        rows = await database.fetch(ENDS, fleet, after, limit)
    return [FleetEnd(**dict(row)) for row in rows]


async def list_at_work(trusted: Executor) -> Sequence[FleetInput]:
    """Return the fleets of all organisations that must have a workflow."""
    async with translate_outages():
        return [FleetInput(fleet_id=row["id"], organisation_id=row["organisation_id"]) for row in await trusted.fetch(AT_WORK)]
