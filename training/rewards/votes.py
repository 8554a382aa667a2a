"""Binary verdicts of several judges (MindDR 5.2), and preference between two reports (QSR Eq. 3)."""

from collections.abc import Sequence

from app.domain.missing import Missing
from training.rewards.score import Score, require_present

RIGHT, WRONG = 1.0, -1.0


def majority_of(votes: Sequence[bool | Missing]) -> bool | Missing:
    """Return what more than half of all judges say; Missing where neither side has a majority. A missing vote is on no side."""
    yes = sum(vote is True for vote in votes)
    no = sum(vote is False for vote in votes)
    if 2 * yes > len(votes):
        return True
    if 2 * no > len(votes):
        return False
    reasons = [vote.reason for vote in votes if isinstance(vote, Missing)]
    return Missing("no majority among the judges" + (f" ({'; '.join(dict.fromkeys(reasons))})" if reasons else ""))


def outcome_reward(votes: Sequence[bool | Missing]) -> Score:
    """Return MindDR's outcome reward: 1 for an answer that the majority calls right, else 0."""
    verdict = majority_of(votes)
    return verdict if isinstance(verdict, Missing) else float(verdict)


def preference_reward(accepted: Score, rejected: Score) -> Score:
    """Return the reward of QSR Eq. 3: +1 where the rubric scores the preferred report higher, else -1 (also for a tie)."""
    scores = require_present([accepted, rejected])
    if isinstance(scores, Missing):
        return scores
    return RIGHT if scores[0] > scores[1] else WRONG
