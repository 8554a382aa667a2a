"""Packs the judge: hashes that tie its files together, its limits, and its figures on the validation pairs."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from training.recipes.claim_judge.limits import JudgeLimits, ReadPair
from workflows.judging.pair_reader import HASHED, JUDGE

FORMAT = "rubrica.claim_judge/1"


def write_judge(folder: Path, limits: JudgeLimits) -> None:
    """Write `judge.json` beside the model's files."""
    hashes = {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in HASHED}
    told = {"format": FORMAT, "limits": limits._asdict(), "sha256": hashes}
    (folder / JUDGE).write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")


def measure_reading(pairs: Sequence[ReadPair]) -> dict[str, float]:
    """Return how well the readings tell honest pairs from false ones (AUROC), and the shares of each that are called full."""
    honest, false = [each for each in pairs if each.pair.right], [each for each in pairs if not each.pair.right]
    return {
        "pairs": float(len(pairs)),
        "auroc": _measure_auroc([each.stated for each in honest], [each.stated for each in false]),
        "honest_without_judge": _share(each.full for each in honest),
        "honest_with_judge": _share(each.full and not each.doubted for each in honest),
        "false_without_judge": _share(each.full for each in false),
        "false_with_judge": _share(each.full and not each.doubted for each in false),
    }


def _share(passed: Iterable[bool]) -> float:
    every = list(passed)
    return sum(every) / max(1, len(every))


def _measure_auroc(positive: Sequence[float], negative: Sequence[float]) -> float:
    ranked = np.sort(np.asarray(negative))
    below = np.searchsorted(ranked, positive, "left") + np.searchsorted(ranked, positive, "right")
    return float(below.sum() / 2 / max(1, len(positive) * len(ranked)))
