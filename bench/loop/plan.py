"""The plan of the cycle, as files: what is learned and how, what is examined, and what the gate wants.

Rules reward the training, a stand-in for a model judges the exam (`judging.py`), and what the bench reports is measured by a
third eye (`drafts.py`).
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bench.loop.judging import JUDGE

HOLDER = "base"
STAGE = "rubric"

PLAN = """
name = "loop"
since = 2026-01-01T00:00:00Z
held_out = {{test = {test}, validation = {validation}}}
checks = {{least_pairs = {least_pairs}, least_readers = 5, most_share = 0.25, least_seconds = 3, least_agreement = 0.6}}
canary = {{share = 0.5, longest = "PT{canary_s}S", least_runs = {canary_runs}}}

[[stages]]
name = "rubric"
role = "rubric"
recipe = "rubric_generator"
config = "recipe.toml"
kind = "preference-pairs"
least_rows = {least_rows}
gate = "gate.toml"
exam = "exam.toml"
server = {{address = "{address}", base = "base"}}
"""
RECIPE = """
[model]
base = {base}
[data]
sets = ["@set"]
[reward]
scaling = "balanced"
quality = 0.25
[rollouts]
group_size = 8
tasks_a_step = 8
most_tokens = 40
context = 160
rows = 64
[optimizer]
learning_rate = {rate}
schedule = "constant"
batch_size = 32
epochs = {epochs}
[adapter]
rank = 16
alpha = 32
[validation]
eval_every = 10
tasks = 32
[run]
device = "cpu"
seed = {seed}
samples = 4
save_every = 50
"""
GATE = """
stated = 2026-01-01T00:00:00Z
cycle_starts = 2026-01-02T00:00:00Z
gate_judge = "a stand-in for a model that looks as readers do"
reward_judge = "rules of the recipe"
set_maker = "readers"
untouched = ["search_accuracy", "citation_support"]
superiority = {metric = "preference_accuracy", gain = 0.1}
"""
EXAM = """
kind = "rubrics"
most_tokens = 40
[judge]
url = "{judge}"
model = "{judge_name}"
"""


@dataclass(frozen=True, slots=True)
class Measures:
    """How large the story is.

    `pairs` are asked for, of which the newest `test` and the `validation` before them are held out; GRPO takes `epochs` over the
    rest at the learning rate `rate`. `spoils` are the kinds of spoiled candidates that are tried too (`spoiled.py`).
    """

    pairs: int = 440
    houses: int = 6
    readers: int = 3
    loud: int = 100
    quick: int = 30
    test: float = 0.52
    validation: float = 0.08
    epochs: float = 3
    rate: float = 2e-3
    canary_s: int = 60
    canary_runs: int = 12
    drafts: int = 64
    spoils: tuple[str, ...] = ()


def write_plan(folder: Path, base: Path, address: str, judge: str, measures: Measures, seed: int) -> Path:
    """Write the plan with its files; return its path. `address` is that of the server of rubrics, `judge` that of the judge."""
    told: Mapping[str, object] = {
        **{name: getattr(measures, name) for name in ("test", "validation", "epochs", "rate", "canary_s", "canary_runs")},
        "least_pairs": measures.pairs // 3,
        "least_rows": measures.pairs // 5,
        "address": address,
        "base": json.dumps(str(base.resolve())),
        "seed": seed,
    }
    folder.mkdir(parents=True, exist_ok=True)
    exam = EXAM.format(judge=judge, judge_name=JUDGE)
    files = {"plan.toml": PLAN.format(**told), "recipe.toml": RECIPE.format(**told), "gate.toml": GATE, "exam.toml": exam}
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder / "plan.toml"
