"""A built graph, open for reading: who is linked with whom, who has an attribute, and the sentences that say so."""

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Protocol

from app.domain.query import Language
from training.synthesis.graph_queries.extraction import category_of
from training.synthesis.graph_queries.naming import list_telling_names
from training.synthesis.graph_queries.nouns import Attribute, AttributeKind, Category, Node, StatingSentence

_SURE_LINKS = "SELECT source, target FROM edges WHERE sure"
_UNSURE_LINKS = "SELECT source, target FROM edges WHERE NOT sure"
_NODE = "SELECT name, aliases, url, snapshot, language, category, ambiguity FROM nodes WHERE id = ?"
_PASSAGE = (
    'SELECT n.url, n.name, n.snapshot, p.start, p."end", p.text FROM passages p JOIN nodes n ON n.id = p.node WHERE p.id = ?'
)
_ATTRIBUTES = "SELECT node, kind, value, number, passage FROM attributes WHERE node = ? ORDER BY passage, kind, value, number"
_STATING = (
    "SELECT passage FROM edges WHERE sure AND ((source = ? AND target = ?) OR (source = ? AND target = ?)) ORDER BY passage"
)
_TOGETHER = (
    "SELECT 1 FROM edges a JOIN edges b ON b.target = ? AND b.source = a.source AND b.paragraph = a.paragraph"
    " WHERE a.target = ? LIMIT 1"
)
_HAVING = "SELECT node FROM attributes WHERE kind = ?1 AND value = ?2 UNION SELECT node FROM hints WHERE kind = ?1 AND value = ?2"
_KINDS = "SELECT DISTINCT value FROM attributes WHERE kind = 'kind'"
_NUMBERS = "SELECT DISTINCT kind, value, number, node FROM attributes WHERE kind IN ('year', 'number')"


class GraphView(Protocol):
    """What conditions are evaluated on. `find_linked` counts links in either direction, unsure ones too."""

    @property
    def nodes(self) -> frozenset[int]:
        """All nodes."""
        ...

    def find_linked(self, nodes: Iterable[int]) -> frozenset[int]:
        """Return the nodes that are linked with any of these."""
        ...

    def find_having(self, kind: AttributeKind, value: str, low: float | None, high: float | None) -> frozenset[int]:
        """Return the nodes that may have an attribute: of this value, and of a number within the bounds where there are some."""
        ...

    def find_category(self, category: Category) -> frozenset[int]:
        """Return the nodes that may be of a category."""
        ...


class Graph:
    """A graph's file. Links and attributes are in memory, sentences are read when they are needed."""

    def __init__(self, path: Path) -> None:
        self._file = sqlite3.connect(path)
        self._links = self._read_links(_SURE_LINKS)
        self._perhaps = self._read_links(_UNSURE_LINKS)
        self._numbers: dict[tuple[str, str], dict[float, list[int]]] = {}
        for kind, value, number, node in self._file.execute(_NUMBERS):
            self._numbers.setdefault((kind, value), {}).setdefault(number, []).append(node)
        self._categories: dict[str, frozenset[int]] = {}
        self._nameable = frozenset(node for (node,) in self._file.execute("SELECT id FROM nodes WHERE nameable"))
        self.nodes = frozenset(range(self._file.execute("SELECT count(*) FROM nodes").fetchone()[0]))
        self.find_node = lru_cache(8_192)(self._find_node)
        self._find_having = lru_cache(2_048)(self._read_having)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def is_nameable(self, node: int) -> bool:
        """Say whether the node's own name is found in texts."""
        return node in self._nameable

    def list_links(self, node: int) -> Sequence[int]:
        """Return the nodes that are surely linked with this one, in order."""
        return sorted(self._links.get(node, ()))

    def find_linked(self, nodes: Iterable[int]) -> frozenset[int]:
        """See `GraphView`."""
        return frozenset().union(*(links.get(node, ()) for node in nodes for links in (self._links, self._perhaps)))

    def may_be_linked(self, one: int, other: int) -> bool:
        """Say whether the document of one node may name the other."""
        return other in self._links.get(one, ()) or other in self._perhaps.get(one, ())

    def stand_together(self, one: int, other: int) -> bool:
        """Say whether a paragraph of any document may name both."""
        return self._file.execute(_TOGETHER, (one, other)).fetchone() is not None

    def find_having(self, kind: AttributeKind, value: str, low: float | None, high: float | None) -> frozenset[int]:
        """See `GraphView`."""
        if low is None or high is None:
            return self._find_having(kind, value)
        numbers = self._numbers.get((kind, value), {})
        return frozenset(node for number, nodes in numbers.items() if low <= number <= high for node in nodes)

    def find_category(self, category: Category) -> frozenset[int]:
        """See `GraphView`."""
        if category not in self._categories:
            words = [value for (value,) in self._file.execute(_KINDS) if category_of(value) is category]
            having = (self._find_having(AttributeKind.KIND, word) for word in words)
            self._categories[category] = frozenset[int]().union(*having)
        return self._categories[category]

    def list_attributes(self, node: int) -> Sequence[Attribute]:
        """Return what is said about a node, in the order of its text; each thing once."""
        found: dict[tuple[object, ...], Attribute] = {}
        for about, kind, value, number, passage in self._file.execute(_ATTRIBUTES, (node,)):
            one = Attribute(node=about, kind=AttributeKind(kind), value=value, number=number, passage=passage)
            found.setdefault((kind, value, number), one)
        return list(found.values())

    def list_stating(self, one: int, other: int) -> Sequence[int]:
        """Return the passages that link two nodes."""
        return [passage for (passage,) in self._file.execute(_STATING, (one, other, other, one))]

    def count_naming(self, node: int) -> int:
        """Count the passages of other documents that name a node."""
        return int(self._file.execute("SELECT count(*) FROM edges WHERE target = ?", (node,)).fetchone()[0])

    def find_passage(self, passage: int) -> StatingSentence:
        """Return a passage by its number."""
        url, title, snapshot, start, end, text = self._file.execute(_PASSAGE, (passage,)).fetchone()
        return StatingSentence(url=url, title=title, snapshot=snapshot, start=start, end=end, text=text)

    def list_telling_names(self, node: int) -> tuple[str, ...]:
        """Return all names that would tell that this node is meant."""
        found = self.find_node(node)
        return list_telling_names(found.name, found.aliases, found.category)

    def _read_having(self, kind: str, value: str) -> frozenset[int]:
        return frozenset(node for (node,) in self._file.execute(_HAVING, (kind, value)))

    def _find_node(self, node: int) -> Node:
        name, aliases, url, snapshot, language, category, ambiguity = self._file.execute(_NODE, (node,)).fetchone()
        return Node(
            id=node,
            name=name,
            aliases=tuple(json.loads(aliases)),
            url=url,
            snapshot=snapshot,
            language=Language(language),
            category=Category(category),
            ambiguity=ambiguity,
        )

    def _read_links(self, query: str) -> Mapping[int, frozenset[int]]:
        found: dict[int, set[int]] = {}
        for source, target in self._file.execute(query):
            found.setdefault(source, set()).add(target)
            found.setdefault(target, set()).add(source)
        return {node: frozenset(linked) for node, linked in found.items()}
