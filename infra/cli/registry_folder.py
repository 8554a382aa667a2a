"""Read what was trained from the folder of a run of `rubrica train`, or from a folder that has nothing but the model."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from app.domain.errors import InvalidInput
from app.domain.model_versions import TrainedOn
from app.domain.split import Split
from app.models.service.base_licence import read_licence
from training.evaluation.harness.manifest import digest_files
from training.recipes.run_folder import StepMetrics, TrainingFolder, TrainingOrigin
from training.synthesis.training_set.folder import MANIFEST, ROWS, SetFolder

MOST_POINTS = 100
LEARNED = (Split.TRAIN, Split.VALIDATION)
"""The splits that decide the weights: the best policy is chosen by its validation."""


@dataclass(frozen=True)
class LearnedSet:
    """A set that was learned from, and the rows of exports in it."""

    told: TrainedOn
    pairs: frozenset[str]


@dataclass(frozen=True)
class TrainedFolder:
    """What a folder tells of a trained model. Without the origin of a run, all but `model` is empty."""

    model: Path
    recipe: str = ""
    configuration: Mapping[str, Any] = field(default_factory=dict)
    build: str = ""
    base: str = ""
    licence: str = ""
    sets: tuple[LearnedSet, ...] = ()
    figures: Mapping[str, Any] = field(default_factory=dict)

    @property
    def pairs(self) -> frozenset[str]:
        """The rows of exports in all sets."""
        return frozenset().union(*(each.pairs for each in self.sets))


def read_trained_folder(path: Path, sets: Sequence[Path]) -> TrainedFolder:
    """Read a folder. `sets` are where the sets lie now that the run learned from; by default where they were then.

    Raises:
        InvalidInput: the run is not finished, or its sets are not there as they were: who can be erased from it were not known.
    """
    run = TrainingFolder(path)
    origin = run.read_origin()
    if origin is None:
        if not path.is_dir():
            raise InvalidInput(f"{path} is no folder")
        return TrainedFolder(path, sets=tuple(map(_read_set, sets)))
    if not run.is_finished:
        raise InvalidInput(f"the run in {path} is not finished: go on with its command")
    found = _find_sets(origin, sets or tuple(map(Path, origin.config.get("data", {}).get("sets", ()))))
    base = str(origin.config["model"]["base"])
    revision = origin.config["model"].get("revision")
    return TrainedFolder(
        run.model,
        origin.recipe,
        origin.config,
        origin.code,
        f"{base}@{revision}" if revision else base,
        read_licence(Path(base)),
        found,
        {"figures": run.read_figures(), "curves": _read_curves(run.read_metrics()), "device": origin.device},
    )


def _find_sets(origin: TrainingOrigin, sets: Sequence[Path]) -> tuple[LearnedSet, ...]:
    """Read the sets that a run learned from, and require that they are all of them, as they were."""
    digests = {_digest_rows(path, split) for path in sets for split in Split}
    if lacking := [name for name, digest in origin.data.items() if digest not in digests]:
        raise InvalidInput(
            f"this run learned from {lacking[0].partition('/')[0]}, which is not in {', '.join(map(str, sets)) or 'any folder'} "
            "as it was: name where it lies by --set, so that the registry knows whose judgements are in it"
        )
    return tuple(map(_read_set, sets))


def _digest_rows(path: Path, split: Split) -> str:
    file = path / split / ROWS
    return digest_files([file])[ROWS] if file.exists() else ""


def _read_set(path: Path) -> LearnedSet:
    manifest = SetFolder(path).read_manifest()
    told = TrainedOn(
        kind=manifest.origin.kind,
        digest=digest_files([path / MANIFEST])[MANIFEST],
        rows=sum(manifest.rows.get(split, 0) for split in LEARNED),
        consents_at=manifest.origin.consents_at,
    )
    lines = [
        line for split in LEARNED if (path / split / ROWS).exists() for line in (path / split / ROWS).read_bytes().splitlines()
    ]
    return LearnedSet(told, frozenset(str(pair) for line in lines for pair in json.loads(line).get("pairs") or ()))


def _read_curves(logged: Sequence[StepMetrics]) -> dict[str, list[tuple[int, float]]]:
    """Return what was logged by step, thinned out evenly to what a card shows."""
    curves: dict[str, list[tuple[int, float]]] = {}
    for each in logged:
        for name, value in each.values.items():
            curves.setdefault(name, []).append((each.step, value))
    return {name: points[:: -(-len(points) // MOST_POINTS)] for name, points in curves.items()}
