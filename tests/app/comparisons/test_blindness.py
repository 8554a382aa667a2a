"""Properties: a blind answer depends on nothing but the two texts as shown; sides are balanced."""

import secrets
from datetime import UTC, datetime
from uuid import UUID, uuid4

import asyncpg
from hypothesis import given
from hypothesis import strategies as st

from app.comparisons.schemas import view_of
from app.comparisons.service.comparisons import ShownComparison
from app.comparisons.storage import comparisons
from app.comparisons.storage.comparisons import Candidate, Comparison
from app.domain.query import ResearchQuery
from app.domain.writer import ReportLineage
from app.preferences.nouns.feedback import CandidatePlace, ChoiceVerdict, ComparisonStatus, Viewing
from tests.app.conftest import NewRun

NOW = datetime(2026, 11, 21, tzinfo=UTC)
WORDS = st.text(min_size=1, max_size=40)
MAKING = st.builds(ReportLineage, system=WORDS, agents=WORDS, model=WORDS, build=WORDS, temperature=st.floats(0, 2))
NUMBERS = st.integers(0, 10**9)


def candidate(place: CandidatePlace, text: str, making: ReportLineage, number: int) -> Candidate:
    return Candidate(place, f"{number:064}", text, text, '{"citations": [], "claims": []}', making, number, number)


def shown(left: CandidatePlace, candidates: list[Candidate], made: UUID) -> ShownComparison:
    query = ResearchQuery(question="why?")
    comparison = Comparison(UUID(int=1), UUID(int=2), made, UUID(int=4), "e" * 64, "", NOW, query, True, False)
    viewing = Viewing(left=left, first_viewed_at=NOW)
    return ShownComparison(comparison, ComparisonStatus.READY, viewing, {c.place: c for c in candidates})


@given(WORDS, WORDS, MAKING, MAKING, NUMBERS, NUMBERS)
def test_the_answer_is_the_same_bytes_whichever_of_the_two_texts_was_delivered(
    left: str, right: str, one: ReportLineage, other: ReportLineage, spent: int, spent_there: int
) -> None:
    as_delivered = [
        candidate(CandidatePlace.DELIVERED, left, one, spent),
        candidate(CandidatePlace.ALTERNATIVE, right, other, spent_there),
    ]
    as_alternative = [
        candidate(CandidatePlace.ALTERNATIVE, left, other, spent_there),
        candidate(CandidatePlace.DELIVERED, right, one, spent),
    ]
    first = view_of(shown(CandidatePlace.DELIVERED, as_delivered, uuid4()))
    second = view_of(shown(CandidatePlace.ALTERNATIVE, as_alternative, uuid4()))
    assert first.model_dump_json() == second.model_dump_json()


@given(st.sampled_from(CandidatePlace), st.sampled_from(ChoiceVerdict))
def test_sides_and_places_are_told_apart_and_back(left: CandidatePlace, verdict: ChoiceVerdict) -> None:
    viewing = Viewing(left=left, first_viewed_at=NOW)
    outcome = viewing.outcome_of(verdict)
    assert (outcome.place is None) == (verdict.side is None)
    if outcome.place is not None:
        assert viewing.side_of(outcome.place) is verdict.side


async def test_sides_are_drawn_evenly_and_balanced_among_the_readers_of_a_pair(pool: asyncpg.Pool, new_run: NewRun) -> None:
    run_id, people = await new_run(), 300
    users = await pool.fetch(
        "INSERT INTO users (id, email) SELECT gen_random_uuid(), 'b' || n FROM generate_series(1, $1) n RETURNING id", people
    )
    pairs = await pool.fetch(
        """INSERT INTO comparisons (id, run_id, made_run_id, evidence_digest)
           SELECT gen_random_uuid(), $1, $1, '' FROM generate_series(1, $2) RETURNING id""",
        *(run_id, people),
    )

    async def left(pair: UUID, user: UUID) -> bool:
        await comparisons.note_view(pool, pair, user, secrets.choice(tuple(CandidatePlace)))
        viewing = await comparisons.get_viewing(pool, pair, user)
        assert viewing is not None
        return viewing.left is CandidatePlace.DELIVERED

    first = sum([await left(row["id"], users[0]["id"]) for row in pairs])
    # Four and a half standard deviations of 300 fair draws: fails once in 150,000 times.
    assert abs(first - people / 2) < 39
    one = pairs[0]["id"]
    seen = [await left(one, user["id"]) for user in users[:41]]
    assert abs(sum(seen) - (len(seen) - sum(seen))) == 1
    assert [await left(one, user["id"]) for user in users[:41]] == seen
