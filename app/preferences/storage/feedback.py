"""Stars, flagged claims, and consent to training. Every function is one statement, complete in itself."""

from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from asyncpg import Record

from app.database.engine import Executor, translate_outages
from app.domain.revision import DELIVERED
from app.preferences.nouns.feedback import ClaimFlag, Consent, Rating

# What is judged is named by the digest of its stored text: a report has later versions, and a judgement is of one of them.
DIGEST = "encode(sha256(convert_to(p.report::text, 'UTF8')), 'hex')"
RATE = f"""
    INSERT INTO ratings (run_id, user_id, stars, comment, report_digest)
    SELECT p.run_id, $2, $3, $4, {DIGEST} FROM reports p WHERE p.run_id = $1
    ON CONFLICT (run_id, user_id) DO UPDATE
        SET stars = excluded.stars, comment = excluded.comment, report_digest = excluded.report_digest, made_at = now()
    RETURNING made_at"""
RATING = "SELECT stars, comment, made_at FROM ratings WHERE run_id = $1 AND user_id = $2"
# A claim of a later version ($5) is the delivered report's that says the same; of two that do, the nearer one.
FLAG = f"""
    INSERT INTO claim_flags (run_id, claim, user_id, reason, claim_text, report_digest)
    SELECT p.run_id, own.place, $3, $4, own.text, {DIGEST} FROM reports p,
        LATERAL (SELECT (c.place - 1)::int AS place, c.claim ->> 'text' AS text
                 FROM json_array_elements(p.report -> 'claims') WITH ORDINALITY AS c (claim, place)) AS own
    WHERE p.run_id = $1
      AND CASE WHEN $5::int = {DELIVERED} THEN own.place = $2::int
          ELSE own.text = (SELECT v.report -> 'claims' -> $2::int ->> 'text' FROM report_versions v
                           WHERE v.run_id = $1 AND v.n = $5) END
    ORDER BY abs(own.place - $2::int), own.place LIMIT 1
    ON CONFLICT (run_id, claim, user_id) DO UPDATE
        SET reason = excluded.reason, claim_text = excluded.claim_text, report_digest = excluded.report_digest, made_at = now()
    RETURNING claim, claim_text, made_at"""
UNFLAG = "DELETE FROM claim_flags WHERE run_id = $1 AND claim = $2 AND user_id = $3 RETURNING claim"
FLAGS = "SELECT claim, reason, claim_text, made_at FROM claim_flags WHERE run_id = $1 AND user_id = $2 ORDER BY claim"
CONSENT = """
    SELECT (SELECT since FROM organisation_consents WHERE organisation_id = $1) AS organisation_since,
           (SELECT since FROM person_consents WHERE organisation_id = $1 AND user_id = $2) AS person_since"""
GIVE_OWN = "INSERT INTO person_consents (user_id) VALUES ($1) ON CONFLICT DO NOTHING"
TAKE_OWN = "DELETE FROM person_consents WHERE user_id = $1"
GIVE = "INSERT INTO organisation_consents (given_by) VALUES ($1) ON CONFLICT DO NOTHING"
TAKE = "DELETE FROM organisation_consents WHERE organisation_id = $1"


class StoredRating(NamedTuple):
    """A reader's stars for a report."""

    rating: Rating
    made_at: datetime


class StoredFlag(NamedTuple):
    """A claim that a reader calls wrong, with its words."""

    flag: ClaimFlag
    claim_text: str
    made_at: datetime


async def rate(database: Executor, run_id: UUID, user_id: UUID, rating: Rating) -> StoredRating | None:
    """Store or change a reader's stars for a run's report; None when there is no report."""
    async with translate_outages():
        row = await database.fetchrow(RATE, run_id, user_id, rating.stars, rating.comment)
    return StoredRating(rating, row["made_at"]) if row else None


async def get_rating(database: Executor, run_id: UUID, user_id: UUID) -> StoredRating | None:
    """Return the reader's stars, or None."""
    async with translate_outages():
        row = await database.fetchrow(RATING, run_id, user_id)
    return StoredRating(Rating(stars=row["stars"], comment=row["comment"]), row["made_at"]) if row else None


async def flag(database: Executor, run_id: UUID, user_id: UUID, flagged: ClaimFlag, version: int) -> StoredFlag | None:
    """Flag a claim of this version of a run's report, under its number in the delivered one; None when that has no such claim."""
    async with translate_outages():
        row = await database.fetchrow(FLAG, run_id, flagged.claim, user_id, flagged.reason, version)
    if row is None:
        return None
    return StoredFlag(flagged.model_copy(update={"claim": row["claim"]}), row["claim_text"], row["made_at"])


async def unflag(database: Executor, run_id: UUID, user_id: UUID, claim: int) -> bool:
    """Take a flag back; False when there was none."""
    async with translate_outages():
        return await database.fetchval(UNFLAG, run_id, claim, user_id) is not None


async def list_flags(database: Executor, run_id: UUID, user_id: UUID) -> list[StoredFlag]:
    """Return the reader's flags in a run's report, in the order of the claims."""
    async with translate_outages():
        return [_flag_of(row) for row in await database.fetch(FLAGS, run_id, user_id)]


async def get_consent(database: Executor, organisation_id: UUID, user_id: UUID) -> Consent:
    """Return what is agreed to now."""
    async with translate_outages():
        row = await database.fetchrow(CONSENT, organisation_id, user_id)
    return Consent(**dict(row)) if row else Consent()


async def set_own_consent(database: Executor, user_id: UUID, given: bool) -> None:
    """Give or take back a person's consent in the organisation that `database` acts for. What is given stays as old as it is."""
    async with translate_outages():
        await database.execute(GIVE_OWN if given else TAKE_OWN, user_id)


async def set_organisation_consent(database: Executor, organisation_id: UUID, user_id: UUID, given: bool) -> None:
    """Give or take back the consent of the organisation that `database` acts for."""
    async with translate_outages():
        await (database.execute(GIVE, user_id) if given else database.execute(TAKE, organisation_id))


def _flag_of(row: Record) -> StoredFlag:
    return StoredFlag(ClaimFlag(claim=row["claim"], reason=row["reason"]), row["claim_text"], row["made_at"])
