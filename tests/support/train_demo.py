"""`make train-demo RECIPE=sft_cold_start`: a tiny random model is trained on a small invented set, and its report opens.

It shows the mechanics. Nothing in it teaches anything.
"""

import subprocess
import sys
import tomllib
import webbrowser
from pathlib import Path

import training.recipes
from tests.support.stack import RUBRICA
from tests.support.training_sets import write_set
from training.recipes.catalogue import LOCATIONS
from training.recipes.run_folder import REPORT

OUT = Path("reports") / "train-demo"


def demonstrate(recipe: str) -> int:
    """Make the sets that the recipe's toy.toml names, and run the command; return its exit code."""
    toy = Path(training.recipes.__file__).parent / recipe / "toy.toml"
    for path in tomllib.loads(toy.read_text())["data"]["sets"]:
        kind = Path(path).name
        if not (OUT / kind / "manifest.json").exists():
            write_set(OUT / kind, kind)
    command = [*RUBRICA, "train", recipe, "--config", str(toy), "--out", str(OUT / recipe)]
    ended = subprocess.run(command, check=False).returncode
    if not ended:
        open_report(OUT / recipe / REPORT)
    return ended


def open_report(report: Path) -> None:
    """Open a report in the browser, if somebody sits at a terminal and there is one."""
    if sys.stdout.isatty():
        webbrowser.open(report.resolve().as_uri())


if __name__ == "__main__":
    if sys.argv[1:2] and sys.argv[1] in LOCATIONS:
        sys.exit(demonstrate(sys.argv[1]))
    sys.exit(f"make: name the recipe: make train-demo RECIPE=one of {', '.join(LOCATIONS)}")
