"""What readers' votes must have before anything learns from them: enough of them, of enough people, who mean them."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import floor
from typing import TypeVar

from app.domain.retraining import DataChecks
from app.preferences.nouns.feedback import PreferencePair, ShownSide, UndecidedPair
from app.statistics.wilson import RateInterval, wilson_interval
from training.decontamination.near_copies import WordOverlap

Vote = PreferencePair | UndecidedPair
V = TypeVar("V", bound=Vote)


@dataclass(frozen=True, slots=True)
class CheckedVotes:
    """The votes that are learned from, and how many others were left out, by the reason."""

    pairs: tuple[PreferencePair, ...]
    undecided: tuple[UndecidedPair, ...]
    left_out: Mapping[str, int]


def leave_out(pairs: Sequence[PreferencePair], undecided: Sequence[UndecidedPair], checks: DataChecks) -> CheckedVotes:
    """Leave out votes that were given too quickly to be meant, and those by which one voice outweighs the others.

    Of a voice with too many votes those stay whose ids come first: ids are hashes, so that they favour no kind of vote.
    """
    votes: list[Vote] = [*pairs, *undecided]
    meant = [vote for vote in votes if vote.seconds >= checks.least_seconds]
    by_reader = limit_voices(meant, lambda vote: vote.reader, checks.most_share)
    kept = limit_voices(by_reader, lambda vote: vote.organisation, checks.most_share)
    counts = {
        "too quick": len(votes) - len(meant),
        "too many of one reader": len(meant) - len(by_reader),
        "too many of one organisation": len(by_reader) - len(kept),
    }
    ids = {vote.id for vote in kept}
    return CheckedVotes(tuple(pair for pair in pairs if pair.id in ids), tuple(tie for tie in undecided if tie.id in ids), counts)


def limit_voices(votes: Sequence[V], voice: Callable[[V], str], most_share: float) -> list[V]:
    """Return the votes of which no voice has more than a share. A single voice, or so few that none could have less, is kept."""
    counts = Counter(map(voice, votes))
    if len(counts) * most_share <= 1:
        return list(votes)
    most = _find_most(sorted(counts.values()), most_share)
    by_voice: dict[str, list[V]] = defaultdict(list)
    for vote in sorted(votes, key=lambda vote: vote.id):
        by_voice[voice(vote)].append(vote)
    return [vote for own in by_voice.values() for vote in own[:most]]


def _find_most(counts: Sequence[int], most_share: float) -> int:
    """Return the largest number of votes for each voice with which none has more than the share of what is left."""
    most = counts[-1]
    while most > 1 and most > floor(most_share * sum(min(count, most) for count in counts) + 1e-9):
        most -= 1
    return most


def measure_agreement(votes: Iterable[Vote]) -> tuple[float, int]:
    """Return the share that agrees of all pairs of readers who judged the same two reports, and the number of these pairs."""
    by_reports: dict[frozenset[str], list[str]] = defaultdict(list)
    for vote in votes:
        by_reports[frozenset(digests_of(vote))].append(vote.accepted.digest if isinstance(vote, PreferencePair) else "")
    agreeing = asked = 0
    for said in by_reports.values():
        asked += len(said) * (len(said) - 1) // 2
        agreeing += sum(count * (count - 1) // 2 for count in Counter(said).values())
    return (agreeing / asked if asked else 1.0), asked


def digests_of(vote: Vote) -> tuple[str, str]:
    """Return the digests of the two reports that a vote compares."""
    if isinstance(vote, PreferencePair):
        return vote.accepted.digest, vote.rejected.digest
    return vote.reports[0].digest, vote.reports[1].digest


def find_one_sided(pairs: Sequence[PreferencePair]) -> RateInterval | None:
    """Return the share of preferred reports that stood left, with Wilson's 95% interval; None without pairs."""
    return wilson_interval(sum(pair.accepted_shown is ShownSide.LEFT for pair in pairs), len(pairs))


def share_of_longer(pairs: Sequence[PreferencePair]) -> float:
    """Return the share of pairs whose preferred report is the longer one."""
    return sum(len(pair.accepted.text) > len(pair.rejected.text) for pair in pairs) / len(pairs)


def count_near_questions(pairs: Sequence[PreferencePair]) -> int:
    """Return how many questions are near-copies of another question: such count as less than they seem."""
    questions = sorted({pair.query.question for pair in pairs})
    return len({place for both in WordOverlap(questions).list_pairs() for place in both})
