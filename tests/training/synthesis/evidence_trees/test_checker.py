"""The independent checker of rows: each fault that is put into a sound row is found."""

import asyncio
import copy
from collections.abc import Callable
from typing import Any

import pytest

from app.domain.evidence_rubric import Variant
from app.domain.query import Language
from tests.training.synthesis.evidence_trees.forest import check_rows, plant_forest
from training.synthesis.source_corpus import SourceCorpus

Row = dict[str, Any]


@pytest.fixture(scope="module")
def sound_row(corpus: SourceCorpus) -> Row:
    making = plant_forest(corpus).make(1, Language.ENGLISH, frozenset({Variant.SEARCH, Variant.UNREVISED}))
    worked = asyncio.run(making)
    kept = next(one.kept for one in worked if one.kept)
    return kept.model_dump(mode="json", exclude={"data"}) | kept.data


def nodes_of(row: Row) -> list[Row]:
    nodes: list[Row] = row["tree"]["nodes"]
    return nodes


def selected_leaf(row: Row) -> Row:
    return next(node for node in nodes_of(row) if node["id"] == row["pair"]["selected"][0]["leaf"])


def add_third_level(row: Row) -> None:
    leaf = next(node for node in nodes_of(row) if node["depth"] == 3)
    nodes_of(row).extend({**leaf, "id": f"{leaf['id']}.{n}", "parent": leaf["id"], "depth": 4} for n in (1, 2))


def orphan_node(row: Row) -> None:
    nodes_of(row)[-1]["parent"] = "9"


def crowd_root(row: Row) -> None:
    child = nodes_of(row)[1]
    nodes_of(row).extend({**child, "id": f"{n}", "question": f"Why {n}?"} for n in range(10, 16))


def repeat_parent(row: Row) -> None:
    nodes_of(row)[1]["question"] = nodes_of(row)[0]["question"].upper()


def forget_risks(row: Row) -> None:
    for one in (*nodes_of(row), *row["tree"]["fallen"]):
        one["facet"] = "history" if one["facet"] == "risks" else one["facet"]


def shift_statement(row: Row) -> None:
    nodes_of(row)[2]["passages"][0]["statements"][0]["start"] += 1


def move_statement_out(row: Row) -> None:
    passage = nodes_of(row)[2]["passages"][0]
    passage["end"] = passage["start"] + 1


def select_nothing(row: Row) -> None:
    row["pair"]["selected"] = row["pair"]["selected"][:1]


def cut_trace(row: Row) -> None:
    row["pair"]["merges"][0]["inputs"].pop()


def turn_trace_round(row: Row) -> None:
    row["pair"]["merges"][-1]["inputs"].append(row["pair"]["merges"][-1]["output"])


def end_elsewhere(row: Row) -> None:
    row["pair"]["query"] = "Who built the walls?"


def invent_evidence(row: Row) -> None:
    row["rubric"]["criteria"][0]["evidence"] = ["The mayor burned all records of the year."]


def name_other_leaf(row: Row) -> None:
    row["rubric"]["criteria"][0]["source_leaf_ids"].append("0")


def weigh_below_zero(row: Row) -> None:
    row["rubric"]["criteria"][0]["weight"] = -0.1


def rest_on_one_leaf(row: Row) -> None:
    first = row["rubric"]["criteria"][0]
    for one in row["rubric"]["criteria"]:
        if one["type"] == "factual":
            one |= {"source_leaf_ids": first["source_leaf_ids"], "evidence": first["evidence"]}


def list_rubric(row: Row) -> None:
    row["query"] += " ".join(one["description"] for one in row["rubric"]["criteria"][-2:])


def keep_four(row: Row) -> None:
    row["rubric"]["criteria"] = row["rubric"]["criteria"][:4]


def drop_pair(row: Row) -> None:
    row["audit"]["decision"] = "drop"


def hide_document(row: Row) -> None:
    address = selected_leaf(row)["passages"][0]["address"]
    row["documents"] = [one for one in row["documents"] if one != address]


def invent_in_variant(row: Row) -> None:
    searched = next(one for one in row["variants"] if one["variant"] == "search")
    searched["criteria"][0]["evidence"] = ["The mayor burned all records of the year."]


FAULTS: list[Callable[[Row], None]] = [
    add_third_level,
    orphan_node,
    crowd_root,
    repeat_parent,
    forget_risks,
    shift_statement,
    move_statement_out,
    select_nothing,
    cut_trace,
    turn_trace_round,
    end_elsewhere,
    invent_evidence,
    name_other_leaf,
    weigh_below_zero,
    rest_on_one_leaf,
    list_rubric,
    keep_four,
    drop_pair,
    hide_document,
    invent_in_variant,
]


@pytest.mark.parametrize("put_in", FAULTS)
def test_a_fault_is_found(corpus: SourceCorpus, sound_row: Row, put_in: Callable[[Row], None]) -> None:
    row = copy.deepcopy(sound_row)
    assert check_rows(corpus, [row]) == []
    put_in(row)
    assert check_rows(corpus, [row])
