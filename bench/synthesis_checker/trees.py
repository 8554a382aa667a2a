"""Checks finished rows of evidence trees from their JSON and the texts of the corpus alone.

    check_tree_row(row, read_text) -> ["leaf 1.2 has statements that its text lacks", ...]

It shares no code with what made the rows, and states every rule again in its own way.
"""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

Row = Mapping[str, Any]
ReadText = Callable[[str], str]
"""Returns the full text of a document by its address; empty if the corpus has no such document."""
BRANCHES = {0: 6, 1: 4, 2: 3}
DEEPEST = 3
REQUIRED_SIDES = {"comparison", "risks", "quantities"}
LISTED = 0.8
_WORD = re.compile(r"[\u3400-\u9fff]|[^\W_]+")
_BULLET = re.compile(r"(?m)^\s*(?:[-*•]|\d+[.)、])\s")


def check_tree_row(row: Row, read_text: ReadText) -> list[str]:
    """Return what is wrong with a row of `rows.jsonl`; nothing if it is sound."""
    checks = (_check_shape(row), _check_questions(row), _check_statements(row, read_text), _check_selection(row))
    rubrics = (*_check_unrevised(row), *_check_revised(row), *_check_variants(row, read_text))
    return [*(fault for found in checks for fault in found), *_check_trace(row), *rubrics, *_check_documents(row)]


def _check_shape(row: Row) -> Iterator[str]:
    nodes = {node["id"]: node for node in row["tree"]["nodes"]}
    children: dict[str, list[Row]] = defaultdict(list)
    if len(nodes) != len(row["tree"]["nodes"]):
        yield "two nodes have one id"
    roots = [node for node in nodes.values() if not node["parent"]]
    if len(roots) != 1 or roots[0]["depth"] != 0:
        yield "there is not exactly one root"
    for node in nodes.values():
        if node["parent"]:
            children[node["parent"]].append(node)
            if node["parent"] not in nodes or nodes[node["parent"]]["depth"] + 1 != node["depth"]:
                yield f"node {node['id']} does not stand one level below its parent"
    for node in nodes.values():
        yield from _check_branching(node, children[node["id"]], row["tree"]["fallen"])


def _check_branching(node: Row, children: Sequence[Row], fallen: Sequence[Row]) -> Iterator[str]:
    if not 0 <= node["depth"] <= DEEPEST:
        yield f"node {node['id']} is too deep"
    if bool(node["leaf"]) == bool(children):
        yield f"node {node['id']} is a leaf with children, or an inner node without"
    if children and not 2 <= len(children) <= BRANCHES.get(node["depth"], 0):
        yield f"node {node['id']} has {len(children)} children"
    proposed = [*children, *(one for one in fallen if one["parent"] == node["id"])]
    if children and not {one["facet"] for one in proposed} >= REQUIRED_SIDES:
        yield f"a required side was not proposed for node {node['id']}"


def _check_questions(row: Row) -> Iterator[str]:
    nodes = {node["id"]: node for node in row["tree"]["nodes"]}
    for node in nodes.values():
        above = _list_ancestors(nodes, node)
        beside = [one for one in nodes.values() if one["parent"] == node["parent"] and one["id"] != node["id"]]
        if any(_bag(other["question"]) == _bag(node["question"]) for other in (*above, *beside)):
            yield f"node {node['id']} repeats an ancestor or a sibling"


def _list_ancestors(nodes: Mapping[str, Row], node: Row) -> list[Row]:
    found: list[Row] = []
    while node["parent"] in nodes and len(found) <= DEEPEST:
        node = nodes[node["parent"]]
        found.append(node)
    return found


def _bag(text: str) -> Counter[str]:
    return Counter(_WORD.findall(unicodedata.normalize("NFKC", text).casefold()))


def _check_statements(row: Row, read_text: ReadText) -> Iterator[str]:
    for node in row["tree"]["nodes"]:
        if not node["passages"]:
            yield f"node {node['id']} has no passage"
        for passage in node["passages"]:
            text = read_text(passage["address"])
            if not 1 <= len(passage["statements"]) <= 3:
                yield f"a passage of node {node['id']} has {len(passage['statements'])} statements"
            for said in passage["statements"]:
                inside = passage["start"] <= said["start"] < said["end"] <= passage["end"] <= len(text)
                if not inside or text[said["start"] : said["end"]] != said["text"]:
                    yield f"node {node['id']} has a statement that its text lacks: {said['text'][:60]}"


def _list_selected(row: Row) -> list[str]:
    return [one["leaf"] for one in row["pair"]["selected"]]


def _statements_of(row: Row) -> dict[str, list[str]]:
    return {
        node["id"]: [said["text"] for passage in node["passages"] for said in passage["statements"]]
        for node in row["tree"]["nodes"]
    }


def _check_selection(row: Row) -> Iterator[str]:
    chosen = _list_selected(row)
    leaves = {node["id"] for node in row["tree"]["nodes"] if node["leaf"]}
    if len(chosen) < 2 or len(set(chosen)) < len(chosen) or not set(chosen) <= leaves:
        yield "the selected leaves are fewer than two, repeat, or are no leaves"
    if not all(one["reason"].strip() for one in (*row["pair"]["selected"], *row["pair"]["merges"])):
        yield "a selection or a merge has no reason"


def _check_trace(row: Row) -> Iterator[str]:
    """The arrows from inputs to outputs are a tree: one root, one way out of everything else, and all selected leaves below."""
    merges = row["pair"]["merges"]
    made = [merge["output"] for merge in merges]
    used = [one for merge in merges for one in merge["inputs"]]
    into = {one: merge["output"] for merge in merges for one in merge["inputs"]}
    if len(set(made)) < len(made) or len(set(used)) < len(used) or set(used) - set(made) != set(_list_selected(row)):
        yield "the trace uses something twice, or not exactly the selected leaves"
    ends = [output for output in made if output not in into]
    if len(ends) != 1 or any(_follow(one, into) != ends[0] for one in used):
        yield "the trace does not run together"
    elif [merge["question"] for merge in merges if merge["output"] == ends[0]] != [row["pair"]["query"]]:
        yield "the trace does not end in the query"


def _follow(start: str, into: Mapping[str, str]) -> str:
    for _ in range(len(into) + 1):
        start = into.get(start, start)
    return start


def _check_unrevised(row: Row) -> Iterator[str]:
    criteria = row["pair"]["rubric"]["criteria"]
    yield from _check_criteria("unrevised", row, criteria)
    yield from _check_query("unrevised", row, row["pair"]["query"], criteria)


def _check_revised(row: Row) -> Iterator[str]:
    criteria = row["rubric"]["criteria"]
    yield from _check_criteria("verified", row, criteria)
    yield from _check_query("verified", row, row["query"], criteria)
    if any(one["weight"] < 0 for one in criteria):
        yield "the verified rubric has a negative weight"
    if row["audit"]["decision"] not in ("keep", "revise"):
        yield f"the verdict is {row['audit']['decision']}"
    if row["audit"]["decision"] == "revise" and len(criteria) > 8:
        yield "the revision has more than eight criteria"
    if row["audit"]["decision"] == "keep" and row["query"] != row["pair"]["query"]:
        yield "the pair was kept, but its query changed"


def _check_criteria(name: str, row: Row, criteria: Sequence[Row]) -> Iterator[str]:
    stated = _statements_of(row)
    if len(criteria) < 5:
        yield f"the {name} rubric has {len(criteria)} criteria"
    for one in criteria:
        if not set(one["source_leaf_ids"]) <= set(_list_selected(row)):
            yield f"{name} {one['id']} names a leaf that was not selected"
        said = [text for leaf in one["source_leaf_ids"] for text in stated.get(leaf, ())]
        if any(not any(piece in text for text in said) for piece in one["evidence"]):
            yield f"{name} {one['id']} has evidence that its leaves do not state"
        if (one["type"] == "factual") != bool(one["evidence"]):
            yield f"{name} {one['id']} is {one['type']} with {len(one['evidence'])} pieces of evidence"
        if not -1 <= one["weight"] <= 1:
            yield f"{name} {one['id']} weighs {one['weight']}"


def _check_query(name: str, row: Row, query: str, criteria: Sequence[Row]) -> Iterator[str]:
    stated = _statements_of(row)
    evidence = [piece for one in criteria for piece in one["evidence"]]
    if any(all(any(piece in text for text in stated[leaf]) for piece in evidence) for leaf in _list_selected(row)):
        yield f"one leaf has all evidence of the {name} rubric"
    if any(_bag(node["question"]) == _bag(query) for node in row["tree"]["nodes"] if node["leaf"]):
        yield f"the {name} query is a leaf's question"
    listed = [one["id"] for one in criteria if _share_in(one["description"], query) >= LISTED]
    if len(listed) > 1 or _BULLET.search(query) or any(piece in query for piece in evidence):
        yield f"the {name} query lists its rubric"


def _share_in(text: str, other: str) -> float:
    words, known = set(_bag(text)), set(_bag(other))
    return len(words & known) / max(1, len(words))


def _check_variants(row: Row, read_text: ReadText) -> Iterator[str]:
    texts = [_fold(read_text(address)) for address in row["documents"]]
    for rubric in row["variants"]:
        name = rubric["variant"]
        for one in rubric["criteria"]:
            if name == "closed_book" and (one["evidence"] or one["source_leaf_ids"]):
                yield "the closed-book rubric names evidence"
            pieces = [said for piece in one["evidence"] for said in _split(piece)] if name == "search" else []
            if any(not any(said in text for text in texts) for said in pieces):
                yield "the search-based rubric has evidence that no document of the row has"
        if name == "unrevised" and rubric != row["pair"]["rubric"]:
            yield "the unrevised variant is not the pair's own rubric"


def _split(evidence: str) -> list[str]:
    """Return the sentences of evidence, in which quotations of one passage are joined by blanks."""
    return re.split(r"(?<=[.!?。！？]) ", _fold(evidence))


def _fold(text: str) -> str:
    return " ".join(text.split())


def _check_documents(row: Row) -> Iterator[str]:
    chosen = _list_selected(row)
    behind = {one["address"] for node in row["tree"]["nodes"] if node["id"] in chosen for one in node["passages"]}
    if not {row["seed"], *behind} <= set(row["documents"]):
        yield "the row does not name all its documents"
