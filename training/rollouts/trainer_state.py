"""What a checkpoint holds beside TRL's own files."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file

from training.rollouts.batches import Batch
from training.rollouts.staleness import Staleness


@dataclass(frozen=True, slots=True)
class TrainerState:
    """The state of one process: parts of batches read, weights of rewards, the source's state, and ages of rollouts."""

    steps: int
    part_weights: dict[str, float] | None
    source: Mapping[str, Any]
    staleness: Staleness


def save_state(folder: str, process: int, state: TrainerState, parts: Sequence[Batch] | None) -> None:
    """Write the state and, in the middle of a generation batch, the batch's parts."""
    if parts:
        tensors = {f"{place}/{name}": tensor.contiguous() for place, part in enumerate(parts) for name, tensor in part.items()}
        save_file(tensors, _name_parts(folder, process))
    _name_state(folder, process).write_text(json.dumps(asdict(state)))


def load_state(folder: str, process: int, device: torch.device) -> tuple[TrainerState, list[Batch] | None]:
    """Read what `save_state` wrote.

    Raises:
        FileNotFoundError: the checkpoint is another trainer's.
    """
    stored = json.loads(_name_state(folder, process).read_text())
    staleness = Staleness({int(age): count for age, count in stored.pop("staleness")["by_age"].items()})
    return TrainerState(**stored, staleness=staleness), _load_parts(_name_parts(folder, process), device)


def _load_parts(file: Path, device: torch.device) -> list[Batch] | None:
    if not file.exists():
        return None
    tensors = load_file(file, device=str(device))
    parts: list[Batch] = [{} for _ in {name.partition("/")[0] for name in tensors}]
    for name, tensor in tensors.items():
        place, _, key = name.partition("/")
        parts[int(place)][key] = tensor
    return parts


def _name_state(folder: str, process: int) -> Path:
    return Path(folder) / f"rollouts-{process}.json"


def _name_parts(folder: str, process: int) -> Path:
    return Path(folder) / f"rollouts-{process}.safetensors"
