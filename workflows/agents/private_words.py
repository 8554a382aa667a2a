"""The words of private sources that an agent has read: what it asks outside may not repeat them at length.

A source is private when its address is none of the web: a document of one's own, or the answer of another server's tool.
"""

from collections.abc import Iterator, Mapping, Sequence

from app.domain.address import host_of
from app.domain.evidence import Passage
from app.domain.script import is_ideograph
from retrieval.language.tokens import split_units
from workflows.agents.foreign_tools import SCHEME, make_foreign_name
from workflows.agents.memory import MemoryEntry, MemoryKind

MOST_WORDS = 7
"""So many words in a row may be repeated: names and terms. An ideograph counts as half a word."""
_HALVES = 2 * (MOST_WORDS + 1)
_TOLD_BY_SEARCHES = (MemoryKind.THOUGHT, MemoryKind.FINDING, MemoryKind.GAP)


class PrivateWords:
    """All runs of words that are too long to be repeated outside, by the prefix of the tools that know them already."""

    def __init__(self, memory: Sequence[MemoryEntry] = ()) -> None:
        self._runs: dict[str, set[str]] = {}
        if any(_is_private(address) for entry in memory for address in entry.addresses):
            self._add("", *(entry.text for entry in memory if entry.kind in _TOLD_BY_SEARCHES))

    def add_passages(self, passages: Sequence[Passage]) -> None:
        """Add what an agent is shown, where its source is private."""
        for passage in passages:
            if _is_private(passage.source.url):
                self._add(_name_teller(passage.source.url), passage.text)

    def are_repeated(self, asked: object, tool: str = "", given: Sequence[object] = ()) -> bool:
        """Say whether arguments repeat too many of them in a row for this tool. A server may be told its own words.

        `given` are the arguments given before, sent or not, in order: a run may not leave in pieces one after the other.
        """
        if not self._runs:
            return False
        before = _list_halves(" ".join(_list_values(given)))[1 - _HALVES :]
        values, keys = (_list_halves(" ".join(listed)) for listed in (_list_values(asked), _list_keys(asked)))
        runs_asked = {*_list_runs(before + values), *_list_runs(keys)}
        return any(runs_asked & runs for teller, runs in self._runs.items() if not (teller and tool.startswith(teller)))

    def _add(self, teller: str, *texts: str) -> None:
        self._runs.setdefault(teller, set()).update(run for text in texts for run in _list_runs(_list_halves(text)))


def _is_private(address: str) -> bool:
    return not host_of(address)


def _name_teller(address: str) -> str:
    """Return how the names of the tools begin of the server that gave this answer; empty for a document."""
    return f"{make_foreign_name(address.removeprefix(SCHEME).partition('/')[0])}_" if address.startswith(SCHEME) else ""


def _list_values(given: object) -> Iterator[str]:
    """Yield all texts of a JSON value in order, without the names of fields: these would stand between pieces of a run."""
    match given:
        case str():
            yield given
        case Mapping():
            yield from _list_values(list(given.values()))
        case Sequence():
            yield from (text for one in given for text in _list_values(one))


def _list_keys(given: object) -> Iterator[str]:
    """Yield the names of all fields of a JSON value."""
    match given:
        case Mapping():
            yield from (*given, *_list_keys(list(given.values())))
        case Sequence() if not isinstance(given, str):
            yield from (key for one in given for key in _list_keys(one))


def _list_halves(text: str) -> list[str]:
    return [half for unit in split_units(text.casefold()) for half in ((unit,) if is_ideograph(unit) else (unit, "+"))]


def _list_runs(halves: Sequence[str]) -> Iterator[str]:
    for start in range(len(halves) - _HALVES + 1):
        yield " ".join(halves[start : start + _HALVES])
