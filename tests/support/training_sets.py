"""Small training sets with invented rows, as `rubrica data make` leaves them: for tests of recipes and `make train-demo`."""

import json
from collections.abc import Callable, Mapping
from datetime import date
from pathlib import Path
from typing import Any

from app.domain.query import Language
from training.decontamination.known_texts import KnownTexts
from training.synthesis.training_set.finishing import finish_set
from training.synthesis.training_set.folder import SetFolder
from training.synthesis.training_set.manifest import SetOrigin
from training.synthesis.training_set.outcome import KeptRow, WorkedCandidate

PLACES = ("Ashford", "Brindle", "Corwen", "Dunmore", "Elsmere", "Farley", "Garston", "Hadley", "Ilford", "Kirby")
NOTE = "The council of {place} wrote down each ship that entered the harbour, and what it carried. "


def write_set(folder: Path, kind: str, rows: int = 30) -> Path:
    """Write a finished set of invented rows."""
    worked = [WorkedCandidate(candidate=f"row-{n}", kept=_make_row(n, MAKERS[kind](n))) for n in range(rows)]
    origin = SetOrigin(kind=kind, wanted=rows, seed=0, code="invented", today=date(2026, 11, 2))
    with SetFolder(folder).open_work(origin):
        finish_set(SetFolder(folder), origin, worked, KnownTexts(), {})
    return folder


def _make_row(number: int, data: Mapping[str, Any]) -> KeptRow:
    query = f"{PLACES[number % 10]} {number}: how deep was pier {number * 7}?"
    return KeptRow(query=query, topic="ports", language=Language.ENGLISH, documents=(f"doc:{number}",), data=dict(data))


def make_trajectory(number: int) -> dict[str, Any]:
    """A search of two turns, as a row of `trajectories`. Every third is longer."""
    place = PLACES[number % 10]
    search = json.dumps({"thought": f"I look for {place}.", "action": "search", "inputs": [f"{place} harbour depth"]})
    finish = json.dumps({"thought": "That is enough.", "action": "finish", "inputs": []})
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
    good, bad = (f"The pier is here.\n\n{text.format(number=number, depth=number + 3)}" for text in (TABLE, FAULTY))
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


MAKERS: Mapping[str, Callable[[int], dict[str, Any]]] = {
    "trajectories": make_trajectory,
    "self-samples": make_self_samples,
    "preference-pairs": make_pair,
}
