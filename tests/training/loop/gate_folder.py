"""A folder of a gate with scores of known change."""

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from training.loop.gates.plan import GatePlan

PLAN = """
stated = 2026-11-01T00:00:00Z
cycle_starts = 2026-11-02T00:00:00Z
gate_judge = "one"
reward_judge = "another"
set_maker = "a third"
probes = ["padded"]

[superiority]
metric = "report_quality"
gain = 0.05
"""
GOOD = {
    "report_quality": 0.06,
    "preference_accuracy": 0.0,
    "search_accuracy": 0.0,
    "citation_support": 0.01,
    "cost": 0.0,
    "probe/padded": 0.0,
}


def make_plan(**changed: Any) -> GatePlan:
    """Return the plan, with fields changed."""
    return GatePlan.model_validate(tomllib.loads(PLAN) | changed)


def make_rows(changes: Mapping[str, float], queries: int = 120, spread: float = 0.03, items: int = 2) -> list[dict[str, Any]]:
    """Return scores whose mean change is exactly this by metric, and equally spread over queries."""
    noise = np.linspace(-spread, spread, queries)
    return [
        {
            "metric": metric, "query": f"q{query}", "item": f"q{query}/{item}", "before": 0.5,
            "after": 0.5 + change + noise[query], "before_text": f"old-{query}-{item}", "after_text": f"new-{query}-{item}",
        }
        for metric, change in changes.items()
        for query in range(queries)
        for item in range(items)
    ]  # fmt: skip


def write_folder(folder: Path, rows: list[dict[str, Any]], plan: str = PLAN, trained: list[dict[str, Any]] | None = None) -> Path:
    """Write the files of a gate."""
    (folder / "gate.toml").write_text(plan)
    (folder / "scores.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    if trained is not None:
        (folder / "trained_on.jsonl").write_text("".join(json.dumps(row) + "\n" for row in trained))
    return folder
