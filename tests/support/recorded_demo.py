"""A few recorded runs over an invented world, for demonstrations and benches of training sets that are made of runs.

Two systems, two models and two temperatures, all by the stub.
"""

import asyncio
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from retrieval.store.catalogue import Collection, CorpusKind
from tests.support.model_stub import MODEL
from tests.support.stack import RUBRICA
from tests.training.evaluation.small_benchmark import write_lines
from tests.training.synthesis.graph_queries.small_world import list_records

WORLD = "world"
OF_EACH = 4
TOPICS = {
    "poet": ("people", "What is told of the poet {}, and which book came of a childhood there?", 2),
    "river": ("rivers", "Which mills and bridges belong to {}, and when did it flood?", 3),
    "town": ("towns", "By what do the people of {} live, and since when has it had a market?", 4),
}
RUNS = {"minddr": (MODEL, ()), "react": (f"{MODEL}-2", ("--temperature", "0.7"))}
QUESTIONS = "questions/query.jsonl"
FROM_RUNS = {
    "trajectories": ("minddr", "react", QUESTIONS),
    "report-data": ("minddr", QUESTIONS),
    "preference-pairs": ("minddr", "react"),
    "self-samples": ("minddr",),
}
"""What each kind that is made of runs is made of, in the folder of the runs."""
CRITERIA = {
    "dimension_weight": {"insight": 0.6, "readability": 0.4},
    "criterions": {
        "insight": [{"criterion": "reasons", "explanation": "names them", "weight": 1}],
        "readability": [{"criterion": "is clear", "explanation": "", "weight": 1}],
    },
}


def describe_world(folder: Path) -> Collection:
    """Write the documents of the world into a folder, and return the collection that they are."""
    path = write_lines(folder / "world.jsonl", list_records())
    return Collection(name=WORLD, kind=CorpusKind.RECORDS, path=str(path))


def list_inputs(kind: str, folder: Path) -> list[str]:
    """Return the arguments that name the inputs of a kind to `rubrica data make`."""
    inputs = [part for name in FROM_RUNS[kind] for part in ("--input", str(folder / name))]
    sampled = ["--option", f"base={MODEL}"] if kind == "self-samples" else []
    return [*inputs, "--option", "benchmark=drb-race", *sampled]


async def record_runs(folder: Path, settings: Mapping[str, str], of_each: int = OF_EACH) -> None:
    """Run both systems over questions with the product's command. `settings` name the model's server and the home.

    Raises:
        RuntimeError: a run ends with an error.
    """
    write_questions(folder / QUESTIONS, of_each)
    for system, (model, options) in RUNS.items():
        command = [*RUBRICA, "eval", "run", "drb-race", "--data", str((folder / QUESTIONS).parent), "--out", str(folder / system)]
        command += ["--system", system, "--effort", "standard", "--collection", WORLD, "--demonstration", *options]
        process = await asyncio.create_subprocess_exec(*command, env=os.environ | settings | {"RUBRICA_LLM_MODEL": model})
        if await process.wait() != 0:
            raise RuntimeError(f"the run of {system} failed")


def write_questions(path: Path, of_each: int) -> None:
    """Write questions, and beside them criteria and reference reports, in the files of DeepResearch Bench."""
    rows = list(_list_questions(of_each))
    write_lines(path, rows)
    write_lines(path.with_name("criteria.jsonl"), [{"id": row["id"], **CRITERIA} for row in rows])
    references = [{"id": row["id"], "article": f"It was told often. {row['prompt']}"} for row in rows]
    write_lines(path.with_name("reference.jsonl"), references)


def _list_questions(of_each: int) -> Iterator[dict[str, Any]]:
    """Ask about some people, rivers and towns of the world."""
    titles = {record["_id"]: record["title"] for record in list_records()}
    for kind, (topic, asked, hops) in TOPICS.items():
        for name in (f"{kind}{n}" for n in range(of_each)):
            yield {"id": name, "language": "en", "topic": topic, "hops": hops, "prompt": asked.format(titles[name])}
