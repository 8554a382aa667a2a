"""The folder of a run of `rubrica train` that is over, without the training."""

from datetime import UTC, datetime
from pathlib import Path

from training.recipes.run_folder import TrainingFolder, TrainingOrigin
from training.recipes.training_data import digest_sets


def write_run(path: Path, sets: list[Path], base: str = "Qwen/Qwen3-4B", weights: bytes = b"weights") -> Path:
    """Write a finished run that learned from these sets."""
    origin = TrainingOrigin(
        recipe="preference_dpo",
        config={"model": {"base": base, "revision": "r1"}, "data": {"sets": [str(each) for each in sets]}},
        code="c0de",
        packages={},
        data=digest_sets(sets),
        base={},
        device="CPU",
        started_at=datetime(2026, 11, 2, tzinfo=UTC),
    )
    folder = TrainingFolder(path)
    with folder.open_run(origin):
        for step in range(1, 301):
            folder.keep_metrics(step, {"loss": 1 / step, "rewards/margins": step / 100})
        folder.keep_figures({"faults, before": 0.5, "faults, after": 0.25})
        folder.model.mkdir()
        (folder.model / "adapter_model.safetensors").write_bytes(weights)
        (folder.model / "adapter_config.json").write_text("{}")
    return path
