"""A folder in which people compare pairs without knowing who wrote them.

pairs.jsonl    a pair a line: id, question, left, right
reviews.jsonl  a choice a line: id, reviewer, choice (docs/preferences.md); the last of one id and reviewer counts
"""

import hashlib
from pathlib import Path

from app.domain.errors import NotFound
from app.domain.value import Value
from app.preferences.nouns.feedback import Choice
from training.evaluation.harness.json_lines import append_line, cut_torn_line, read_lines

PAIRS, REVIEWS = "pairs.jsonl", "reviews.jsonl"


class ReviewPair(Value):
    """Two reports on a question. A hash decides which stands left."""

    id: str
    question: str
    left: str
    right: str


class PairReview(Value):
    """A person's choice between the two reports."""

    id: str
    reviewer: str
    choice: Choice


class ReviewFolder:
    """The folder of pairs and reviews. It is made when the first pair comes."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read_pairs(self) -> dict[str, ReviewPair]:
        """Read the pairs by id."""
        return {pair.id: pair for pair in read_lines(self.path / PAIRS, ReviewPair)}

    def offer(self, pair: ReviewPair) -> None:
        """Add a pair; one that is there already stays as it is."""
        self.path.mkdir(parents=True, exist_ok=True)
        cut_torn_line(self.path / PAIRS)
        if pair.id not in self.read_pairs():
            append_line(self.path / PAIRS, pair)

    def read_reviews(self) -> dict[str, list[PairReview]]:
        """Read every person's last review of each pair, in the order of the persons' names."""
        last = {(review.id, review.reviewer): review for review in read_lines(self.path / REVIEWS, PairReview)}
        found: dict[str, list[PairReview]] = {}
        for (pair, _), review in sorted(last.items()):
            found.setdefault(pair, []).append(review)
        return found

    def keep_review(self, review: PairReview) -> None:
        """Append a review.

        Raises:
            NotFound: there is no such pair.
        """
        if review.id not in self.read_pairs():
            raise NotFound(f"there is no pair {review.id!r} in {self.path}")
        cut_torn_line(self.path / REVIEWS)
        append_line(self.path / REVIEWS, review)

    def list_waiting(self, reviewer: str) -> list[ReviewPair]:
        """Return the pairs that this person has not reviewed: those with the fewest reviews first."""
        reviews = self.read_reviews()
        seen = {pair for pair, found in reviews.items() if any(review.reviewer == reviewer for review in found)}
        waiting = [pair for pair in self.read_pairs().values() if pair.id not in seen]
        return sorted(waiting, key=lambda pair: len(reviews.get(pair.id, ())))


def lay_out(pair: str, question: str, first: str, second: str) -> ReviewPair:
    """Return two reports as people see them. Which stands left is decided by their texts, not by which is better."""
    sides = sorted((first, second), key=lambda text: hashlib.sha256(f"{pair} {text}".encode()).hexdigest())
    return ReviewPair(id=pair, question=question, left=sides[0], right=sides[1])
