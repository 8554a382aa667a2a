"""`make train-demo RECIPE=sft_cold_start`: a tiny random model is trained on a small invented set, and leaves its report.

It shows the mechanics. Nothing in it teaches anything.
"""

import subprocess
import sys
import tomllib
from pathlib import Path

import training.recipes
from tests.support.stack import RUBRICA
from tests.support.training_sets import write_set
from training.recipes.catalogue import LOCATIONS

# The judge of claims is cut from a checkpoint, which a clone does not have: see its README.
SHOWN = [name for name in LOCATIONS if name != "claim_judge"]
OUT = Path("reports") / "train-demo"


def demonstrate(recipe: str) -> int:
    """Make the sets that the recipe's toy.toml names, and run the command; return its exit code."""
    toy = Path(training.recipes.__file__).parent / recipe / "toy.toml"
    for path in tomllib.loads(toy.read_text())["data"]["sets"]:
        kind = Path(path).name
        if not (OUT / kind / "manifest.json").exists():
            write_set(OUT / kind, kind)
    return subprocess.run([*RUBRICA, "train", recipe, "--config", str(toy), "--out", str(OUT / recipe)], check=False).returncode


if __name__ == "__main__":
    if sys.argv[1:2] and sys.argv[1] in SHOWN:
        sys.exit(demonstrate(sys.argv[1]))
    sys.exit(f"make: name the recipe: make train-demo RECIPE=one of {', '.join(SHOWN)}")
