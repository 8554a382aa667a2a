"""Steps of a cycle that learn nothing, in the place of `python -m training.loop.STEP FOLDER`.

The folder of cycles says in `script.json`, by step, which verdict a step leaves, and how long it takes; `starts.txt` gets the
name of each that begins. A step goes on from the second that it was at when it was killed. A step that is `real` is taken by the
module itself.
"""

import json
import runpy
import sys
import time
from pathlib import Path

TICK = 0.1
ROW = {"id": "r1", "query": "What are toys made of?", "pairs": ["p1", "p2"]}
BEGUN = {"packages": {}, "data": {}, "base": {}, "device": "cpu", "started_at": "2026-11-01T00:00:00Z"}
ORIGIN = {"recipe": "rubric_generator", "config": {"run": {"seed": 7}}, "code": "c1", **BEGUN}


def main(folder: Path) -> None:
    loop, step = folder.parents[1], folder.name
    told = json.loads((loop / "script.json").read_text()).get(step, {})
    with open(loop / "starts.txt", "a") as starts:
        starts.write(f"{step}\n")
    progress = folder / "progress.json"
    done = json.loads(progress.read_text())["ticks"] if progress.exists() else 0
    while done < told.get("ticks", 0):
        time.sleep(TICK)
        done += 1
        new = progress.with_suffix(".new")
        new.write_text(json.dumps({"ticks": done}))
        new.replace(progress)
    if "exit" in told:
        print(told.get("prints", ""), flush=True)
        sys.exit(told["exit"])
    if "real" in told:
        module = sys.argv[2]
        sys.argv = [module, str(folder)]
        runpy.run_module(module, run_name="__main__")
    leave_files(folder)
    outcome = {"verdict": "done", "detail": "", **{name: told[name] for name in ("verdict", "detail", "usd") if name in told}}
    (folder / "outcome.json").write_text(json.dumps(outcome))


def leave_files(folder: Path) -> None:
    """Leave what later steps and people read: the export's manifest, a set's rows, a trained model, a gate's table."""
    files: dict[str, dict[str, object]] = {
        "snapshot": {"export/manifest.json": {"pseudonym_key": "k", "consents_checked_at": "2026-11-01T00:00:00Z"}},
        "set": {"set/manifest.json": {"rows": 1}, "set/train/rows.jsonl": ROW},
        "train": {
            "run/origin.json": ORIGIN,
            "run/model/adapter_config.json": {"made for": folder.parent.name},
        },
        "gate": {"gate.json": {"verdict": "passed"}},
    }
    for name, told in files.get(folder.name.rpartition(".")[2], {}).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(json.dumps(told))
    papers = {"check": "checks.md", "gate": "gate.md"}
    if paper := papers.get(folder.name.rpartition(".")[2]):
        (folder / paper).write_text(f"# {folder.name}\n")


if __name__ == "__main__":
    main(Path(sys.argv[-1]))
