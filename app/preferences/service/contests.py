"""Count votes by how the reports were written: which way wins against which, and how sure that is.

The votes inform a person, who may set an organisation's default way; nothing sets itself.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple
from uuid import UUID

from app.comparisons.service.offers import Offers
from app.comparisons.storage import choices
from app.comparisons.storage.choices import Tally
from app.database.engine import Executor
from app.domain.writer import WriterSettings
from app.preferences.nouns.feedback import CandidatePlace, PairOutcome
from app.preferences.service.vote_statistics import Contest
from app.preferences.storage import writer_defaults
from app.statistics.wilson import RateInterval, wilson_interval

LEAST_VOTES = 30
LEAST_READERS = 3
EVEN = 0.5


class Standing(NamedTuple):
    """A contest with the share of decided votes that its first way won, and the number of readers who voted.

    `settled` names the better way once the whole interval lies on one side of a half, from enough votes of enough readers.
    """

    contest: Contest
    both_bad: int
    readers: int
    won: RateInterval | None
    settled: str | None


class Winners:
    """The use cases of one organisation's standings, and of its default.

    Raises:
        Unavailable: the database does not answer.
    """

    def __init__(self, database: Executor, offers: Offers | None = None) -> None:
        self._database = database
        self._offers = offers

    async def get_standings(self) -> tuple[Sequence[Standing], WriterSettings]:
        """Return every two ways that met, and the present default."""
        return list_standings(await choices.list_tallies(self._database)), await writer_defaults.get(self._database)

    async def set_default(self, writer: WriterSettings, user_id: UUID) -> WriterSettings:
        """Set the writer of later reports, unless their run says otherwise.

        Raises:
            InvalidInput: this installation cannot write so.
        """
        if self._offers is not None:
            self._offers.check(writer)
        await writer_defaults.set_(self._database, writer, user_id)
        return writer


def contests_of(tallies: Iterable[Tally]) -> list[Contest]:
    """Return all votes as contests; the names of the two ways are in alphabetical order."""
    return [standing.contest for standing in list_standings(tallies)]


def list_standings(tallies: Iterable[Tally]) -> list[Standing]:
    """Return every two ways that met, in alphabetical order. Two reports written the same way (another sample) do not count."""
    votes: dict[tuple[str, str], dict[str, int]] = {}
    readers: dict[tuple[str, str], set[object]] = {}
    for tally in tallies:
        first, second = sorted(tally.ways.values())
        if first == second:
            continue
        counted = votes.setdefault((first, second), {})
        counted[_outcome_of(tally, first)] = counted.get(_outcome_of(tally, first), 0) + tally.votes
        readers.setdefault((first, second), set()).update(tally.readers)
    return [_standing_of(pair, votes[pair], len(readers[pair])) for pair in sorted(votes)]


def _outcome_of(tally: Tally, first: str) -> str:
    place: CandidatePlace | None = tally.outcome.place
    return tally.outcome.value if place is None else "first" if tally.ways[place] == first else "second"


def _standing_of(pair: tuple[str, str], votes: dict[str, int], readers: int) -> Standing:
    wins, losses = votes.get("first", 0), votes.get("second", 0)
    ties, bad = votes.get(PairOutcome.TIE, 0), votes.get(PairOutcome.BOTH_BAD, 0)
    won = wilson_interval(wins, wins + losses)
    enough = wins + losses >= LEAST_VOTES and readers >= LEAST_READERS
    better = None if won is None or not enough else pair[0] if won.low > EVEN else pair[1] if won.high < EVEN else None
    return Standing(Contest(*pair, wins, losses, ties + bad), bad, readers, won, better)
