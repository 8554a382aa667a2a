"""Binary verdicts of several judges (MindDR 5.2), and preference between two reports (QSR Eq. 3)."""

from collections.abc import Sequence

from app.domain.missing import Missing
from training.rewards.score import Score

RIGHT, WRONG = 1.0, -1.0


def majority(votes: Sequence[bool | Missing]) -> bool | Missing:
    """What more than half of all judges say; missing votes count for neither side, so that they can leave it undecided."""
    yes = sum(vote is True for vote in votes)
    no = sum(vote is False for vote in votes)
    if 2 * yes > len(votes):
        return True
    if 2 * no > len(votes):
        return False
    reasons = [vote.reason for vote in votes if isinstance(vote, Missing)]
    return Missing("no majority among the judges" + (f" ({'; '.join(dict.fromkeys(reasons))})" if reasons else ""))


def outcome_reward(votes: Sequence[bool | Missing]) -> Score:
    """MindDR's outcome reward: 1 for an answer that the majority calls right, else 0."""
    verdict = majority(votes)
    return verdict if isinstance(verdict, Missing) else float(verdict)


def preference_reward(accepted: Score, rejected: Score) -> Score:
    """QSR Eq. 3: +1 where the rubric scores the preferred report higher; -1 else, a tie included."""
    if isinstance(accepted, Missing):
        return accepted
    if isinstance(rejected, Missing):
        return rejected
    return RIGHT if accepted > rejected else WRONG
