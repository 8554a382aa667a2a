"""The folder in which a set is made: candidates, screenings, reviews. Only its owner may read it: it has readers' questions."""

import os
from collections.abc import Collection, Mapping, Sequence
from datetime import date
from pathlib import Path

from app.domain.benchmark import CandidateQuestion, Decision, Review, Screening
from app.domain.errors import InvalidInput, NotFound
from app.domain.value import Value
from training.evaluation.harness.json_lines import append_line, cut_torn_line, read_lines
from workflows.judging.batch_record import AnswerStore

CANDIDATES, SCREENED, REVIEWS, JUDGE = "candidates.jsonl", "screened.jsonl", "reviews.jsonl", "judge.sqlite"
LEAST_DEPTH = 3


class ReviewQueue:
    """A queue in a folder, read and appended to; of several lines of one id (and reviewer) the last counts."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def open(self) -> None:
        """Make the folder (0700), and cut off a line that a killed process left half written.

        Raises:
            InvalidInput: the folder cannot be made.
        """
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            for name in (CANDIDATES, SCREENED, REVIEWS):
                os.close(os.open(self.path / name, os.O_CREAT | os.O_RDWR, 0o600))
                cut_torn_line(self.path / name)
        except OSError as error:
            raise InvalidInput(f"{self.path} cannot be written: {error.strerror}") from error

    def read_candidates(self) -> dict[str, CandidateQuestion]:
        """Read every collected question, by id."""
        return {found.id: found for found in read_lines(self.path / CANDIDATES, CandidateQuestion)}

    def collect(self, consented: Mapping[str, CandidateQuestion], since: date) -> tuple[int, int]:
        """Add the questions asked since then, `forget` those without consent, and return the numbers of both."""
        gone = self.forget(consented.keys())
        known = self.read_candidates()
        fresh = [found for name, found in consented.items() if name not in known and found.asked_on >= since]
        for found in fresh:
            append_line(self.path / CANDIDATES, found)
        return len(fresh), gone

    def forget(self, consented: Collection[str]) -> int:
        """Drop everything about each question that is not among these, and return the number of dropped questions."""
        gone = self.read_candidates().keys() - set(consented)
        if gone:
            self._rewrite(CANDIDATES, [c for c in self.read_candidates().values() if c.id not in gone])
            self._rewrite(SCREENED, [s for s in self.read_screenings().values() if s.id not in gone])
            self._rewrite(REVIEWS, [r for r in self.read_reviews() if r.id not in gone])
            (self.path / JUDGE).unlink(missing_ok=True)  # the model's reasons may repeat a question
        return len(gone)

    def read_screenings(self) -> dict[str, Screening]:
        """Read the model's screenings, by id."""
        return {found.id: found for found in read_lines(self.path / SCREENED, Screening)}

    def keep_screening(self, screening: Screening) -> None:
        """Append a screening."""
        append_line(self.path / SCREENED, screening)

    def read_reviews(self) -> list[Review]:
        """Read every expert's last review of each question, in the order in which they were written."""
        last: dict[tuple[str, str], Review] = {}
        for found in read_lines(self.path / REVIEWS, Review):
            last.pop((found.id, found.reviewer), None)
            last[found.id, found.reviewer] = found
        return list(last.values())

    def keep_review(self, review: Review) -> None:
        """Append a review.

        Raises:
            NotFound: there is no such question.
        """
        if review.id not in self.read_candidates():
            raise NotFound(f"there is no question {review.id!r} in the queue")
        append_line(self.path / REVIEWS, review)

    def list_waiting(self, reviewer: str) -> list[CandidateQuestion]:
        """Return the screened questions that this expert has not reviewed: fewest reviews first, then the oldest."""
        reviews, known = self.read_reviews(), self.read_candidates()
        seen = {review.id for review in reviews if review.reviewer == reviewer}
        counts = {name: sum(review.id == name for review in reviews) for name in known}
        passed = [known[s.id] for s in self.read_screenings().values() if is_reviewable(s) and s.id in known and s.id not in seen]
        return sorted(passed, key=lambda candidate: (counts[candidate.id], candidate.asked_on, candidate.id))

    def open_judge_answers(self) -> AnswerStore:
        """Open the model's stored answers; the caller closes them."""
        return AnswerStore(self.path / JUDGE)

    def _rewrite(self, name: str, values: Sequence[Value]) -> None:
        part = self.path / f"{name}.part"
        with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            file.writelines(f"{value.model_dump_json()}\n" for value in values)
        part.replace(self.path / name)


def is_reviewable(screening: Screening) -> bool:
    """Say whether experts review the question: it is deep enough, clear by itself, and about no private person."""
    return not screening.missing and screening.depth >= LEAST_DEPTH and screening.self_contained and not screening.personal


def find_acceptance(reviews: Sequence[Review], needed: int) -> Review | None:
    """Return the newest review, where enough experts accept and none rejects; else None."""
    if any(review.decision is Decision.REJECT for review in reviews) or len(reviews) < needed:
        return None
    return reviews[-1]
