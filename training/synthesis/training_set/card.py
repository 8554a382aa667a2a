"""The card of a set: the README.md by which `datasets.load_dataset` finds the rows of each split."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from training.synthesis.training_set.columns import describe_columns
from training.synthesis.training_set.manifest import TrainingSetManifest

ROWS_OF = "{split}/rows.jsonl"


def render_card(manifest: TrainingSetManifest, rows: Sequence[Mapping[str, Any]]) -> str:
    """Render the card. A split without rows is left out, because an empty file has no columns."""
    origin = manifest.origin
    splits = [f"  - split: {split}\n    path: {ROWS_OF.format(split=split)}" for split, count in manifest.rows.items() if count]
    columns = describe_columns(rows)
    return "\n".join(
        [
            "---",
            "configs:",
            "- config_name: default",
            "  data_files:",
            *splits,
            *([f"dataset_info: {json.dumps({'features': columns}, ensure_ascii=False)}"] if columns else []),
            "---",
            f"# {origin.kind}",
            "",
            f"{sum(manifest.rows.values())} rows of {manifest.candidates} candidates, made by Rubrica on {origin.today}.",
            "`manifest.json` says with what, `report.html` shows what is in it, `refused.jsonl` has what fell out and why.",
            "",
        ]
    )
