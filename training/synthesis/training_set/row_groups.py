"""Rows that share evidence: a query, two queries that are near-copies or mean nearly the same, or a document.

Groups are found by union over the evidence, so that a document of thousands of rows costs no more than its rows.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import chain

from retrieval.encoding.encoder import Encoder
from training.decontamination.near_copies import WordOverlap
from training.decontamination.near_meanings import list_near_meanings
from training.synthesis.training_set.outcome import KeptRow

Evidence = Mapping[str, Sequence[str]]
"""What each row shares with other rows, by the row's id."""


class Bond(StrEnum):
    """A kind of evidence, the strongest first."""

    QUERY = "query"
    LIKENESS = "likeness"
    DOCUMENT = "document"


def list_evidence(rows: Mapping[str, KeptRow], encoder: Encoder | None) -> Mapping[Bond, Evidence]:
    """Return what each row shares with another row. An `encoder` finds queries that mean nearly the same."""
    near = _list_near(list(dict.fromkeys(row.query for row in rows.values())), encoder)
    return {
        Bond.QUERY: _keep_shared({name: [f"query {row.query!r}"] for name, row in rows.items()}),
        Bond.LIKENESS: _keep_shared({name: near[row.query] for name, row in rows.items()}),
        Bond.DOCUMENT: _keep_shared({name: [f"document {each}" for each in row.documents] for name, row in rows.items()}),
    }


def join_evidence(found: Mapping[Bond, Evidence], bonds: Sequence[Bond]) -> Evidence:
    """Return what each row shares by any of these bonds."""
    return {name: sorted(chain.from_iterable(found[bond][name] for bond in bonds)) for name in found[Bond.QUERY]}


def _keep_shared(every: Evidence) -> Evidence:
    """Leave out what one row alone has."""
    unique = {name: set(own) for name, own in every.items()}
    holders = Counter(chain.from_iterable(unique.values()))
    return {name: sorted(each for each in own if holders[each] > 1) for name, own in unique.items()}


def _list_near(queries: Sequence[str], encoder: Encoder | None) -> Mapping[str, list[str]]:
    near: dict[str, list[str]] = defaultdict(list)
    for one, other in chain(WordOverlap(queries).list_pairs(), list_near_meanings(encoder, queries)):
        link = "likeness of {!r} and {!r}".format(*sorted((queries[one], queries[other])))
        near[queries[one]].append(link)
        near[queries[other]].append(link)
    return near


@dataclass
class RowGroup:
    """Rows that share evidence, directly or through others; `between` are rows that would join it with further ones."""

    rows: list[str]
    topics: Counter[str]
    between: list[str] = field(default_factory=list)


@dataclass
class _Union:
    """Groups that grow together. Each is known by one of its evidences."""

    parents: dict[str, str] = field(default_factory=dict)
    groups: dict[str, RowGroup] = field(default_factory=dict)

    def find_roots(self, evidence: Iterable[str]) -> list[str]:
        """Return the groups that have one of these, each once."""
        return list(dict.fromkeys(map(self._find_root, evidence)))

    def join(self, row: str, topics: Counter[str], roots: Sequence[str]) -> None:
        """Make one group of these groups and a row; `topics` are those of all its rows."""
        largest = max(roots, key=lambda root: len(self.groups[root].rows) if root in self.groups else 0)
        rows = self.groups[largest].rows if largest in self.groups else []
        for root in roots:
            if root != largest:
                self.parents[root] = largest
                rows += self.groups.pop(root).rows if root in self.groups else []
        rows.append(row)
        self.groups[largest] = RowGroup(rows, topics)

    def _find_root(self, evidence: str) -> str:
        found = evidence
        while (above := self.parents.get(found, found)) != found:
            self.parents[found] = self.parents.get(above, above)
            found = above
        return found


def gather_groups(order: Iterable[str], topics: Mapping[str, str], evidence: Evidence, most: Mapping[str, int]) -> list[RowGroup]:
    """Group rows in this order; a row that would give a group more than `most` rows of a topic stays between the groups."""
    union, between = _Union(), list[str]()
    for name in order:
        roots = union.find_roots(evidence[name]) or [name]
        counts = Counter({topics[name]: 1})
        for root in roots:
            counts.update(union.groups[root].topics if root in union.groups else ())
        if all(count <= most.get(topic, 0) for topic, count in counts.items()):
            union.join(name, counts, roots)
        else:
            between.append(name)
    for name in between:
        for root in union.find_roots(evidence[name]):
            if root in union.groups:
                union.groups[root].between.append(name)
    return list(union.groups.values())
