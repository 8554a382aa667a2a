"""The toy runs of `bench.resume`: a recipe's own toy.toml with a checkpoint at each step, in a process of its own.

A random policy writes nothing that a reward could tell apart, and its weights would never move. So recipes of reinforcement
learning begin with one whose answers are known (`chain_policy.py`).
"""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.context import ForkServerContext, ForkServerProcess
from pathlib import Path
from typing import Any

from bench.learning_tasks.rubric_grammar import DEMANDS
from tests.support.chain_policy import save_chain_policy
from tests.training.recipes.toy_runs import write_toy

RUN = {"device": "cpu", "save_every": 1, "keep": 2, "seed": 3}
RL: Mapping[str, Mapping[str, Any]] = {
    "model": {"base": "chain"},
    "rollouts": {"rows": 1, "group_size": 4, "tasks_a_step": 1, "updates": 2},
    "optimizer": {"batch_size": 2},
    "validation": {"eval_every": 3, "tasks": 2},
}
"""A generation of four rollouts, split into two steps; a validation falls within one."""
AGENTS: Mapping[str, Mapping[str, Any]] = {
    "rollouts": {"group_size": 2},
    "optimizer": {"batch_size": 1, "epochs": 0.12},
    "validation": {"tasks": 1},
}
"""Fewer of them, because an agent's prompts are long."""
FOUND, LOST, BROKEN = (
    f'<think>so</think><tool_call>{{"name": "search", "arguments": {{"query": "{place} harbour"}}}}{end}'
    for place, end in (("Ashford", "</tool_call>"), ("nowhere", "</tool_call>"), ("Ashford", ""))
)
ANSWER, END = "<think>so</think><answer>", "</answer>"
ITEMS = [f'{{"title": "{name}", "description": "Key Criterion: {demand}", "weight": 5}}' for name, demand in DEMANDS.items()]
RUBRIC = [f"{ANSWER}[{ITEMS[0]}", *(f", {item}" for item in ITEMS[1:])]
CLOSE = f"]{END}"
ANSWERS: Mapping[str, Sequence[Sequence[str]]] = {
    "sft_cold_start": [[FOUND]],
    "search_rl": [[FOUND], [LOST], [BROKEN], [f"{ANSWER}3 fathoms{END}"]],
    "agent_rl": [[FOUND], [LOST], [BROKEN], [f'{ANSWER}<cite id="p1">The harbour is deep.</cite>{END}']],
    "report_rl": [
        [f"{ANSWER}{text}{END}"] for text in ("# Port\n\nThe pier is oak [q1].", "Ice froze the harbour.", "Oak [q9].")
    ],
    "rubric_generator": [[*RUBRIC, CLOSE], [*RUBRIC[::2], CLOSE], [RUBRIC[0], *RUBRIC[1::2], CLOSE]],
}
"""What policies answer at first: what rewards can read, and what not; for the cold start what meets its stopping rule."""
STOPPING = {"check_every": 4, "mid_step": 4, "contexts": [40], "answer_tokens": 8, "window": 1, "flat": 0.9, "entropy_kept": 0.01}
PRELOADED = (
    "torch._dynamo",
    "trl",
    "peft",
    "datasets",
    "matplotlib.backends.backend_svg",
    "training.recipes.supervised",
    "training.recipes.preference_dpo.trainer",
    "training.recipes.reinforcement.train_policy",
    "training.recipes.report_rates",
    "training.recipes.sft_cold_start.checking",
    "training.recipes.search_rl.train",
    "training.recipes.search_rl.work",
    "training.recipes.agent_rl.work",
    "training.recipes.report_rl.work",
    "training.recipes.rubric_generator.work",
)


@dataclass(frozen=True, slots=True)
class ToyRun:
    """A run of a recipe: its configuration, and the folder in which it trains. What it says goes to `log`."""

    recipe: str
    config: Path
    out: Path
    log: Path


def write_toy_run(folder: Path, recipe: str, judge: str) -> ToyRun:
    """Write data and configuration of a recipe's run. `judge` is the address of a model that judges."""
    judged = {"model": "stub", "url": judge}
    runs: Mapping[str, Mapping[str, Any]] = {
        "sft_cold_start": {"rows": 20, "model": {"base": "chain"}, "optimizer": {"epochs": 1}, "stopping": STOPPING},
        "preference_dpo": {"rows": 11, "optimizer": {"epochs": 0.75}},
        "self_sft": {"rows": 15, "optimizer": {"epochs": 1}},
        "rubric_generator": {"optimizer": {"epochs": 0.75}, "rollouts": {"most_tokens": 16}},
        "search_rl": {**AGENTS, "tools": {"tape": "graph-queries/tape.jsonl"}},
        "agent_rl": {**AGENTS, "tools": {"tape": "evidence-trees/tape.jsonl"}, "judge": judged},
        "report_rl": {
            "rows": 10,
            "optimizer": {"epochs": 0.375},
            "reward": {"race": True, "relevance": "judge"},
            "judge": judged,
        },
    }
    said = dict(runs[recipe])
    rows = said.pop("rows", 20)
    shared = RL if recipe.endswith("_rl") or recipe == "rubric_generator" else {}
    sections = {name: {**shared.get(name, {}), **said.get(name, {})} for name in (*shared, *said)}
    config = write_toy(folder, recipe, rows, run=RUN, **sections)
    return ToyRun(recipe, config, folder / "run", folder / "said.txt")


class TrainingProcesses:
    """Processes that train, each forked from one that has loaded the libraries: a kill costs no loading anew."""

    def __init__(self) -> None:
        os.environ |= {"OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}
        self._context: ForkServerContext = get_context("forkserver")
        self._context.set_forkserver_preload(list(PRELOADED))
        self._run(_load)

    def start_run(self, run: ToyRun) -> ForkServerProcess:
        """Begin a run, or go on with it."""
        process = self._context.Process(target=_train, args=(run,))
        process.start()
        return process

    def write_policy(self, recipe: str, folder: Path) -> None:
        """Write the policy that a recipe of reinforcement learning begins with beside its configuration."""
        self._run(save_chain_policy, folder / "chain", ANSWERS[recipe])

    def _run(self, work: Callable[..., None], *given: object) -> None:
        process = self._context.Process(target=work, args=given)
        process.start()
        process.join()
        if process.exitcode != 0:
            raise RuntimeError(f"{work.__name__} {given} ended with {process.exitcode}")


def _load() -> None:
    """Do nothing: the libraries are there now."""


def _train(run: ToyRun) -> None:
    """Train as the command does, in PyTorch's deterministic mode."""
    from training.recipes.starting import train

    _prepare(run.log)
    train(run.recipe, run.config, run.out, None, print)


def _prepare(log: Path) -> None:
    import torch

    torch.use_deterministic_algorithms(True)
    torch.utils.deterministic.fill_uninitialized_memory = False  # it costs half of the time, and nothing reads what is empty
    said = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(said, 1)
    os.dup2(said, 2)
