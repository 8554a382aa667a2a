"""Small training sets with invented rows, as `rubrica data make` leaves them: for tests of recipes and `make train-demo`."""

import json
from collections.abc import Callable, Mapping
from datetime import date
from pathlib import Path
from typing import Any

from app.domain.chat import ToolCall, ToolResult
from app.domain.evidence import Passage, Source, snapshot_hash
from app.domain.query import Language
from retrieval.tape import Tape
from training.decontamination.known_texts import KnownTexts
from training.recipes.config import TINY
from training.rewards.notations import Notation
from training.synthesis.training_set.finishing import finish_set
from training.synthesis.training_set.folder import SetFolder
from training.synthesis.training_set.manifest import SetOrigin
from training.synthesis.training_set.outcome import KeptRow, RefusedCandidate, WorkedCandidate
from training.synthesis.training_set.recipe import SetRecipe
from workflows.agents.ports import Record

PLACES = ("Ashford", "Brindle", "Corwen", "Dunmore", "Elsmere", "Farley", "Garston", "Hadley", "Ilford", "Kirby")
IN_TAGS = ("trajectories", "self-samples", "report-data")
NOTE = "The council of {place} wrote down each ship that entered the harbour, and what it carried. "


def write_set(folder: Path, kind: str, rows: int = 30) -> Path:
    """Write a finished set of invented rows."""
    worked = [WorkedCandidate(candidate=f"row-{n}", kept=_make_row(n, MAKERS[kind](n))) for n in range(rows)]
    notation = Notation.TAGS if kind in IN_TAGS else None
    base = {TINY: ""} if kind == "self-samples" else {}
    origin = SetOrigin(kind=kind, wanted=rows, seed=0, code="invented", today=date(2026, 11, 2), base=base, notation=notation)
    with SetFolder(folder).open_work(origin):
        finish_set(SetFolder(folder), origin, SetRecipe((), refuse_work), worked, KnownTexts(), {})
    if kind in ("graph-queries", "evidence-trees"):
        record_searches(rows).save(folder / "tape.jsonl")
    return folder


async def refuse_work(candidate: object, record: Record) -> KeptRow | RefusedCandidate:
    """Stand where a recipe makes a row: these rows are there already."""
    raise AssertionError(f"{candidate} has its row")


def _make_row(number: int, data: Mapping[str, Any]) -> KeptRow:
    return KeptRow(
        query=ask_depth(number), topic="ports", language=Language.ENGLISH, documents=(f"doc:{number}",), data=dict(data)
    )


def ask_depth(number: int) -> str:
    """Return the question of a row."""
    return f"{PLACES[number % 10]} {number}: how deep was pier {number * 7}?"


def make_trajectory(number: int) -> dict[str, Any]:
    """A search of two turns, as a row of `trajectories`. Every third is longer."""
    place = PLACES[number % 10]
    call = json.dumps({"name": "search", "arguments": {"query": f"{place} harbour depth"}})
    search = f"<think>I look for {place}.</think><tool_call>{call}</tool_call>"
    finish = "<think>That is enough.</think><answer>finish</answer>"
    observed = NOTE.format(place=place) * (1 if number % 3 else 9)
    messages = [
        {"role": "system", "content": "You search."},
        {"role": "user", "content": f"How deep is {place}?"},
        {"role": "assistant", "content": search, "trained": True},
        {"role": "user", "content": observed},
        {"role": "assistant", "content": finish, "trained": True},
    ]
    return {"conversations": [{"agent": "search", "steps": ["act", "act"], "messages": messages}]}


TABLE = "| pier | depth |\n|---|---|\n| {number} | {depth} m |\n"
FAULTY = "| pier | depth |\n|---|\n| {number} | {depth} m | deep |\n"
POLICY = "toy-policy"


def make_self_samples(number: int) -> dict[str, Any]:
    """A prompt with a good output, whose table is whole, and a bad one; as a row of `self-samples`."""
    said = (f"The pier is here [q1].\n\n{text.format(number=number, depth=number + 3)}" for text in (TABLE, FAULTY))
    good, bad = (f"<answer>{text}</answer>" for text in said)
    return {
        "prompt": [{"role": "user", "content": f"Evidence: {NOTE.format(place=PLACES[number % 10])}Report on pier {number}."}],
        "policy": POLICY,
        "samples": [{"output": good, "side": "high", "score": 0.9}, {"output": bad, "side": "low", "score": 0.2}],
        "chosen": good,
        "rejected": bad,
    }


def make_pair(number: int) -> dict[str, Any]:
    """Two reports of the same model, as a row of `preference-pairs`."""
    row = make_self_samples(number)
    lineage = {"run": "toy", "model": POLICY}
    return {
        "accepted": {"text": row["chosen"], "lineage": lineage},
        "rejected": {"text": row["rejected"], "lineage": lineage},
    }


def make_graph_query(number: int) -> dict[str, Any]:
    """A question over two places, as a row of `graph-queries`, as far as a recipe reads it."""
    place, further = PLACES[number % 10], PLACES[(number + 3) % 10]
    return {
        "entities": [{"name": place, "aliases": [f"Port {place}"]}, {"name": further}],
        "answer": {"name": f"{number + 3} fathoms", "aliases": [f"{number + 3} m"]},
        "difficulty": {"level": ("easy", "medium", "hard")[number % 3]},
    }


def make_tree(number: int) -> dict[str, Any]:
    """A query with its rubric and a closed-book one, as a row of `evidence-trees`, as far as a recipe reads it."""
    said = [{"id": f"c{n}", "type": "logical", "description": f"Gives reason {n}.", "weight": 0.2 * n} for n in range(1, 6)]
    fact = {"id": "c6", "type": "factual", "description": f"Says that pier {number} is {number + 3} fathoms deep.", "weight": 1.0}
    grounds = {"source_leaf_ids": ["l1"], "evidence": [f"Pier {number} is {number + 3} fathoms deep."]}
    return {"rubric": {"criteria": [*said, fact | grounds]}, "variants": [{"variant": "closed_book", "criteria": [*said, fact]}]}


def record_searches(rows: int) -> Tape:
    """Record what a search for each question, and for each place, finds."""
    tape = Tape()
    for number in range(rows):
        place, further = PLACES[number % 10], PLACES[(number + 3) % 10]
        text = NOTE.format(place=f"Port {place}") + f"Pier {number} of {further} is {number + 3} fathoms deep."
        source = Source(url=f"https://example.org/{number}", title=f"Piers {number}", snapshot=snapshot_hash(text))
        result = ToolResult(passages=(Passage(source=source, text=text, start=0, end=len(text)),))
        for query in (ask_depth(number), place, f"{place} harbour"):
            tape.record(ToolCall(name="search", arguments={"query": query}), result)
    return tape


WRITER = "You write a short report. {form}"
TAGGED = "First think inside <think> and </think>. Then give the Markdown text, and only it, inside <answer> and </answer>."


def make_report_data(number: int) -> dict[str, Any]:
    """A long row of `report-data` with two quotes; every third is a short one, without them and without an outline."""
    place, short = PLACES[number % 10], not number % 3
    quotes = [f"The pier at {place} was built of oak.", f"The harbour of {place} froze in the winter of {1800 + number}."]
    sections = [{"heading": "The pier", "brief": "what it is made of"}, {"heading": "The harbour", "brief": "when it froze"}]
    criterion = {"criterion": "facts", "explanation": "both facts are there", "weight": 1.0}
    return {
        "form": "short" if short else "long",
        "system_prompt": WRITER.format(form=TAGGED),
        "retrieval": [] if short else [{"url": "doc:1", "title": place, "text": quote} for quote in quotes],
        "outline": {"title": f"{place}'s port", "sections": [] if short else sections},
        "rubric": {"weights": {"insight": 1.0}, "criteria": {"insight": [criterion]}},
        "reference": f"# {place}\n\nThe pier is of oak{'' if short else ' [1]'}. It froze{'' if short else ' [2]'}.",
    }


MAKERS: Mapping[str, Callable[[int], dict[str, Any]]] = {
    "trajectories": make_trajectory,
    "self-samples": make_self_samples,
    "preference-pairs": make_pair,
    "graph-queries": make_graph_query,
    "evidence-trees": make_tree,
    "report-data": make_report_data,
}
