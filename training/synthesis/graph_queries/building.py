"""Building the graph of a corpus, once: three readings, of titles, of first sentences and of all sentences, into one file.

No more than one document is in memory, besides the names.
"""

import gzip
import hashlib
import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from itertools import count, islice
from pathlib import Path
from typing import NamedTuple

from app.domain.script import count_ideographs
from retrieval.language.paragraphs import Span
from retrieval.language.sentences import split_sentences
from retrieval.language.whole_names import find_name
from training.synthesis.graph_queries.extraction import category_of, find_kinds, read_sentence
from training.synthesis.graph_queries.naming import (
    MOST_BEARERS,
    NameFinder,
    WordUse,
    bare_name,
    find_aliases,
    fold_in_place,
    list_qualifiers,
    list_title_names,
)
from training.synthesis.graph_queries.nouns import AttributeKind, Category
from training.synthesis.source_corpus import CorpusDocument, SourceCorpus

FORM = "v3"
READ_CHARS = 60_000
"""The beginning of a document that is read."""
KIND_CHARS, PLACE_CHARS = 600, 2_000
"""A word for a kind, or the name of a place, so near the beginning of a document may be about its entity."""
LONGEST_SENTENCE = 600
"""What is longer is a list or a table: what it names may be linked, and nothing more is read from it."""
_TABLES = """
CREATE TABLE nodes (id INTEGER PRIMARY KEY, name TEXT, aliases TEXT, url TEXT, snapshot TEXT, language TEXT, category TEXT,
    ambiguity INTEGER, nameable INTEGER);
CREATE TABLE passages (id INTEGER PRIMARY KEY, node INTEGER, start INTEGER, "end" INTEGER, text TEXT);
CREATE TABLE edges (passage INTEGER, source INTEGER, target INTEGER, paragraph INTEGER, sure INTEGER);
CREATE TABLE attributes (passage INTEGER, node INTEGER, kind TEXT, value TEXT, number REAL);
CREATE TABLE hints (node INTEGER, kind TEXT, value TEXT);
"""
_INDEXES = """
CREATE INDEX edges_source ON edges (source); CREATE INDEX edges_target ON edges (target, source, paragraph);
CREATE INDEX attributes_node ON attributes (node); CREATE INDEX attributes_value ON attributes (kind, value, node);
CREATE INDEX hints_value ON hints (kind, value, node);
"""
_PUT_NODE = "INSERT INTO nodes VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
_PUT_PASSAGE = "INSERT INTO passages VALUES (?, ?, ?, ?, ?)"
_PUT_EDGE = "INSERT INTO edges VALUES (?, ?, ?, ?, ?)"
_PUT_HINT = "INSERT INTO hints VALUES (?, ?, ?)"
_WORDS = "SELECT DISTINCT kind, value FROM attributes WHERE kind IN ('kind', 'place')"
_PUT_ATTRIBUTE = "INSERT INTO attributes VALUES (?, ?, ?, ?, ?)"
Links = Mapping[str, frozenset[str]]
"""The titles that each document links to, by its title, where a corpus comes with its links."""


class _Finders(NamedTuple):
    """What finds the names that tell who is meant, and the names that only may. `qualifiers` are those of each node."""

    telling: NameFinder
    doubtful: NameFinder
    qualifiers: Sequence[Mapping[str, str]]


class _Entity(NamedTuple):
    """A document with the names of its entity, as the second reading finds them.

    `qualifiers` are what a document has to say besides a shortened name.
    """

    document: CorpusDocument
    name: str
    aliases: tuple[str, ...]
    kinds: tuple[str, ...]
    qualifiers: Mapping[str, str]


def build_graph(corpus: SourceCorpus, folder: Path, links: Links | None = None) -> Path:
    """Return the file with the graph of a corpus; build it if it is not there. The index and the links decide its name."""
    path = folder / f"graph-{corpus.generation}-{FORM}{_digest_links(links)}.sqlite"
    if path.exists():
        return path
    folder.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    part.unlink(missing_ok=True)
    file = sqlite3.connect(part, isolation_level=None)
    file.execute("PRAGMA journal_mode = OFF")
    file.execute("PRAGMA synchronous = OFF")
    file.executescript(_TABLES)
    file.execute("BEGIN")
    _write_graph(file, corpus, links or {})
    file.execute("COMMIT")
    file.executescript(_INDEXES)
    file.close()
    return part.replace(path)


def read_links(path: Path) -> Links:
    """Read a file of links: JSON lines, gzipped or not, with a `title` and its `links`, each with a `title`."""
    raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    rows = map(json.loads, raw.splitlines())
    return {row["title"]: frozenset(link["title"] for link in row["links"]) for row in rows}


def _digest_links(links: Links | None) -> str:
    """Return the part of a file's name that tells graphs with other links apart; empty where there are none."""
    if not links:
        return ""
    told = json.dumps({title: sorted(linked) for title, linked in links.items()}, sort_keys=True)
    return f"-{hashlib.sha256(told.encode()).hexdigest()[:12]}"


def _write_graph(file: sqlite3.Connection, corpus: SourceCorpus, links: Links) -> None:
    use = WordUse(name for document in corpus.list_documents() for name in list_title_names(document.source.title))
    entities = [_read_entity(corpus, document, use) for document in corpus.list_documents()]
    bearers, doubtful = _list_bearers(entities, use)
    for number, entity in enumerate(entities):
        _write_node(file, number, entity, bearers)
    finders = _Finders(NameFinder(bearers), NameFinder(doubtful), [entity.qualifiers for entity in entities])
    numbers = count(1)
    by_title = {entity.document.source.title: number for number, entity in enumerate(entities)}
    for number, entity in enumerate(entities):
        linked = links.get(entity.document.source.title, frozenset())
        _write_document(file, corpus, number, entity, finders, numbers, frozenset(by_title.get(title, -1) for title in linked))
    _write_hints(file, corpus)


def _write_hints(file: sqlite3.Connection, corpus: SourceCorpus) -> None:
    """Write which kinds and places of others stand near the beginning of each document: rules do not see all that is said."""
    rows = list(file.execute(_WORDS))
    kinds, places = ({value for kind, value in rows if kind == wanted} for wanted in (AttributeKind.KIND, AttributeKind.PLACE))
    finder = NameFinder(dict.fromkeys(map(fold_in_place, kinds | places), ()))
    for number, document in enumerate(corpus.list_documents()):
        text = corpus.read_text(document.source)[:PLACE_CHARS]
        found = {(fold_in_place(text[m.start : m.end]), m.start < KIND_CHARS) for m in finder.find(text)}
        hints = {(AttributeKind.KIND, word) for word, early in found if early and word in kinds}
        hints |= {(AttributeKind.PLACE, word) for word, _ in found if word in places}
        file.executemany(_PUT_HINT, [(number, kind, word) for kind, word in sorted(hints)])


def _read_entity(corpus: SourceCorpus, document: CorpusDocument, use: WordUse) -> _Entity:
    text = corpus.read_text(document.source)[:READ_CHARS]
    use.read(text)
    opening = _first_sentence(text, document.source.title)
    title = document.source.title
    kinds = find_kinds(opening, document.language)
    return _Entity(document, bare_name(title), find_aliases(title, opening), kinds, list_qualifiers(title))


def _first_sentence(text: str, title: str) -> str:
    """Return the first sentence; a heading that repeats the title is none."""
    sentences = (text[start:end].lstrip("# ") for start, end in split_sentences(text[:2_000]))
    return next((sentence for sentence in islice(sentences, 3) if sentence != title), "")


def _list_bearers(entities: list[_Entity], use: WordUse) -> tuple[dict[str, tuple[int, ...]], dict[str, tuple[int, ...]]]:
    """Return the nodes by each name that tells who is meant, and by each that only may.

    Names of very many nodes only may, and ideographs that are also words. A common word of letters names nobody.
    """
    found: dict[str, list[int]] = {}
    for number, entity in enumerate(entities):
        for name in dict.fromkeys(map(fold_in_place, (entity.name, *entity.aliases))):
            found.setdefault(name, []).append(number)
    usable = {name: tuple(nodes) for name, nodes in found.items() if use.is_usable(name)}
    telling = {name: nodes for name, nodes in usable.items() if len(nodes) <= MOST_BEARERS}
    words = {name: tuple(nodes) for name, nodes in found.items() if name not in usable and count_ideographs(name)}
    return telling, words | {name: nodes for name, nodes in usable.items() if name not in telling}


def _write_node(file: sqlite3.Connection, number: int, entity: _Entity, bearers: Mapping[str, tuple[int, ...]]) -> None:
    source, name = entity.document.source, fold_in_place(entity.name)
    shared = [len(bearers.get(fold_in_place(each), ())) for each in (entity.name, *entity.aliases)]
    category = next(map(category_of, entity.kinds), Category.OTHER)
    # A name that too many bear is nobody's: a question may say it, and no search is sure whom it means.
    aliases = [alias for alias in entity.aliases if fold_in_place(alias) in bearers]
    row = (number, entity.name, json.dumps(aliases, ensure_ascii=False), source.url, source.snapshot)
    file.execute(_PUT_NODE, (*row, entity.document.language, category, max(1, *shared), name in bearers))


def _write_document(
    file: sqlite3.Connection,
    corpus: SourceCorpus,
    number: int,
    entity: _Entity,
    finders: _Finders,
    numbers: Iterator[int],
    linked: frozenset[int],
) -> None:
    """Write the edges and attributes that a document states, each with its sentence."""
    text = corpus.read_text(entity.document.source)[:READ_CHARS]
    says = lru_cache(None)(partial(_says, fold_in_place(text)))
    for place, (paragraph, span) in enumerate(_number_sentences(text)):
        sentence = text[span.start : span.end]
        is_list = len(sentence) > LONGEST_SENTENCE
        edges = _find_edges(finders, sentence, number, linked, says)
        attributes = [] if is_list else list(read_sentence(sentence, place, entity.document.language))
        said = [(found.kind, found.value, found.number) for found in attributes]
        if place < 2 and not _is_heading(sentence, entity):
            said += [(AttributeKind.KIND, kind, None) for kind in entity.kinds if kind in fold_in_place(sentence)]
        if edges or said:
            passage = next(numbers)
            file.execute(_PUT_PASSAGE, (passage, number, span.start, span.end, sentence))
            file.executemany(
                _PUT_EDGE, [(passage, number, target, paragraph, sure and not is_list) for target, sure in edges.items()]
            )
            file.executemany(_PUT_ATTRIBUTE, [(passage, number, *each) for each in dict.fromkeys(said)])


def _is_heading(sentence: str, entity: _Entity) -> bool:
    return sentence.lstrip("# ") == entity.document.source.title


def _number_sentences(text: str) -> Iterator[tuple[int, Span]]:
    """Yield the sentences with the numbers of their paragraphs, which are lines."""
    paragraph, before = 0, 0
    for span in split_sentences(text):
        paragraph += "\n" in text[before : span.start]
        before = span.end
        yield paragraph, span


def _says(text: str, qualifier: str) -> bool:
    """Say whether a folded text has a qualifier; an empty one needs nothing."""
    return find_name(qualifier, text) >= 0 if qualifier else True


def _find_edges(
    finders: _Finders, sentence: str, number: int, linked: frozenset[int], says: Callable[[str], bool]
) -> dict[int, bool]:
    """Return the nodes that a sentence may name, and whether each is surely meant.

    Links tell which bearer of a name is meant. Without one, a shortened name is meant where the document says its qualifier.
    """
    found = {node: False for mention in finders.doubtful.find(sentence) for node in mention.nodes}
    for mention in finders.telling.find(sentence):
        meant = [node for node in mention.nodes if node in linked]
        name = fold_in_place(sentence[mention.start : mention.end])
        for node in mention.nodes:
            qualifier = finders.qualifiers[node].get(name, "")
            sure = mention.sure and says(qualifier)
            sure = sure or (meant == [node] and (len(mention.nodes) > 1 or bool(qualifier)))
            found[node] = found.get(node, False) or sure
    found.pop(number, None)
    return found
