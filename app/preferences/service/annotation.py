"""Run annotation by experts: choose the next pair, store answers, and measure agreement."""

import secrets
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import NamedTuple
from uuid import UUID, uuid4

from app.comparisons.service.comparisons import Comparisons, ShownComparison
from app.comparisons.storage import choices
from app.database.tenancy import TenantDatabase
from app.domain.errors import Conflict, InvalidInput, NotFound
from app.preferences.nouns.feedback import CandidatePlace, Choice, Dimension, PairOutcome, StoredChoice
from app.preferences.service.agreement import Agreement, fleiss_kappa, pairwise_kappas
from app.preferences.service.contests import contests_of
from app.preferences.service.vote_statistics import fit_strengths, measure_information, predict_win
from app.preferences.storage import annotations
from app.preferences.storage.annotations import AnnotationTask, AnnotatorAnswer, Assignment, OpenPair

ASSIGNMENT_LASTS = timedelta(hours=24)
"""The time after which an unanswered pair goes to another annotator."""
GOLD_EVERY = 8
"""One pair in so many has a known answer, as long as there are some that the annotator has not seen."""
NEITHER = "neither"


class PresentedPair(NamedTuple):
    """An assignment with the pair as its annotator sees it."""

    assignment: Assignment
    shown: ShownComparison


class AgreementSummary(NamedTuple):
    """The agreement of annotators: overall, by dimension, two by two, and with the known answers (right, given) by annotator."""

    overall: Agreement
    dimensions: Mapping[Dimension, Agreement]
    pairs: Mapping[tuple[str, str], Agreement]
    gold: Mapping[str, tuple[int, int]]


class Annotation:
    """The use cases of annotation.

    Raises:
        NotFound: no such comparison or assignment.
        Unavailable: the database does not answer.
    """

    def __init__(self, database: TenantDatabase, comparisons: Comparisons) -> None:
        self._database = database
        self._comparisons = comparisons

    async def add(self, comparison_ids: Sequence[UUID], overlap: int, gold: PairOutcome | None, user_id: UUID) -> None:
        """Let `overlap` annotators judge each of these pairs; with `gold`, the known answer, every annotator judges them.

        Raises:
            Conflict: a comparison has no two reports yet.
        """
        for id_ in comparison_ids:
            await self._comparisons.prepare(id_, user_id)
            if not await annotations.add(self._database, id_, overlap, gold, user_id):
                raise Conflict(f"comparison {id_} has no two reports to judge; look at it to see why")

    async def list_tasks(self, before: UUID | None, limit: int) -> Sequence[AnnotationTask]:
        """Return the pairs to judge and their progress, newest first."""
        return await annotations.list_tasks(self._database, before, limit)

    async def get_next(self, user_id: UUID) -> PresentedPair | None:
        """Return this annotator's current pair, or else the most informative one; None when there is nothing for them."""
        assignment = await annotations.get_current(self._database, user_id) or await self._assign(user_id)
        if assignment is None:
            return None
        return PresentedPair(assignment, await self._comparisons.show(assignment.comparison_id, user_id))

    async def answer(self, id_: UUID, choice: Choice, user_id: UUID) -> StoredChoice:
        """Store an annotator's answer. It is final.

        Raises:
            Conflict: the assignment is answered, skipped or lapsed, or was never looked at.
        """
        assignment = await self._require_assignment(id_, user_id)
        stored = await self._comparisons.store_choice(assignment.comparison_id, choice, user_id, annotation=True)
        await self._finish(id_, user_id)
        return stored

    async def skip(self, id_: UUID, reason: str, user_id: UUID) -> None:
        """Skip a pair; it goes to another annotator. Raises as `answer`."""
        await self._require_assignment(id_, user_id)
        await self._finish(id_, user_id, reason)

    async def measure_agreement(self) -> AgreementSummary:
        """Return the agreement over all answers so far; pairs with a known answer count for attention only."""
        given = await annotations.list_answers(self._database)
        judged = [answer for answer in given if answer.gold is None]
        by_annotator: dict[str, dict[str, PairOutcome]] = {}
        for answer in judged:
            by_annotator.setdefault(str(answer.user_id), {})[str(answer.comparison_id)] = answer.outcome
        return AgreementSummary(
            fleiss_kappa(_group_by_item(judged, lambda answer: answer.outcome.value)),
            {dimension: _measure_agreement_on(dimension, judged) for dimension in Dimension},
            pairwise_kappas(by_annotator),
            _count_right_answers(given),
        )

    async def _assign(self, user_id: UUID) -> Assignment | None:
        """Assign the best pair; if another annotator takes its last place meanwhile, try the next best."""
        for pair in await self._rank_pairs(await annotations.list_eligible(self._database, user_id)):
            async with self._database.acquire() as transaction:
                given = await annotations.assign(transaction, uuid4(), pair.comparison_id, user_id, ASSIGNMENT_LASTS)
            if given is not None:
                return given
        return None

    async def _rank_pairs(self, pairs: Sequence[OpenPair]) -> list[OpenPair]:
        """Return the most informative pairs first; sometimes a pair with a known answer comes before them."""
        known = fit_strengths(contests_of(await choices.list_tallies(self._database)))

        def measure_pair(pair: OpenPair) -> float:
            chance = predict_win(known, pair.ways[CandidatePlace.DELIVERED], pair.ways[CandidatePlace.ALTERNATIVE])
            return measure_information(chance, pair.delivered, pair.alternative, pair.ties)

        gold = [pair for pair in pairs if pair.gold]
        rest = sorted((pair for pair in pairs if not pair.gold), key=measure_pair, reverse=True)
        if gold and (not rest or secrets.randbelow(GOLD_EVERY) == 0):
            return [secrets.choice(gold), *rest]
        return rest

    async def _require_assignment(self, id_: UUID, user_id: UUID) -> Assignment:
        found = await annotations.get(self._database, id_, user_id)
        if found is None:
            raise NotFound(f"you have no assignment {id_}")
        current = await annotations.get_current(self._database, user_id)
        if current is None or current.id != id_:
            raise Conflict("this assignment is answered, skipped or lapsed; take the next one")
        return found

    async def _finish(self, id_: UUID, user_id: UUID, reason: str | None = None) -> None:
        if reason is not None and not reason.strip():
            raise InvalidInput("say why you skip this pair")
        if not await annotations.finish(self._database, id_, user_id, reason):
            raise Conflict("this assignment is answered, skipped or lapsed; take the next one")


def _group_by_item(answers: Sequence[AnnotatorAnswer], name_choice: Callable[[AnnotatorAnswer], str]) -> list[list[str]]:
    items: dict[UUID, list[str]] = {}
    for answer in answers:
        items.setdefault(answer.comparison_id, []).append(name_choice(answer))
    return list(items.values())


def _measure_agreement_on(dimension: Dimension, answers: Sequence[AnnotatorAnswer]) -> Agreement:
    """Return the agreement of the answers that say something about this dimension."""
    decided = [answer for answer in answers if _favoured_candidate_of(answer, dimension)]
    return fleiss_kappa(_group_by_item(decided, lambda answer: _favoured_candidate_of(answer, dimension)))


def _favoured_candidate_of(answer: AnnotatorAnswer, dimension: Dimension) -> str:
    """Return the candidate that the annotator found better in this dimension; empty where the answer does not say."""
    for reason in answer.choice.reasons:
        if reason.dimension is dimension:
            return NEITHER if reason.side is None else answer.viewing.place_of(reason.side).value
    return ""


def _count_right_answers(answers: Sequence[AnnotatorAnswer]) -> dict[str, tuple[int, int]]:
    found: dict[str, tuple[int, int]] = {}
    for answer in answers:
        if answer.gold is not None:
            right, given = found.get(str(answer.user_id), (0, 0))
            found[str(answer.user_id)] = (right + (answer.outcome is answer.gold), given + 1)
    return found
