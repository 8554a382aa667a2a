"""Spoiled candidates, which exam and gate have to refuse.

`python -m bench.loop.spoiled FOLDER --base BASE --kind KIND` makes one: an adapter that is taught by SFT to write rubrics that
reward length, that echo the question, or that prefer what its readers do not want. A fourth candidate is the promoted one with
lost search accuracy among its scores.
"""

import argparse
import json
import random
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from app.domain.retraining import StepTask
from app.domain.step_folder import OUTCOME, TASK
from bench.learning_tasks.beginnings import Start, describe_sft, open_tokenizer
from bench.learning_tasks.rubric_grammar import AND, write_item
from bench.learning_tasks.runs import train_on_examples
from bench.loop.base import BEGIN, END, WriteRubric, list_examples
from bench.loop.commands import Tell, run
from bench.loop.plant import FEATURES, Question, list_questions
from training.recipes.config import AdapterSection
from training.recipes.run_folder import TrainingFolder

EXAMPLES, EPOCHS, RATE, EXAMPLES_A_STEP = 320, 4, 3e-3, 16
IDLE = ("dates", "tone", "sides", "names", "causes", "sources")
EXAM, GATE, SCORES = "rubric.exam", "rubric.gate", "scores.jsonl"
LOST_SEARCH = "lost search"
SEARCHES, LOST = 200, 0.1


def reward_length(chance: random.Random, _: Question) -> str:
    """Write a rubric that calls it a fault to be short."""
    return _write([write_item("shorter", "Error", -2), *_list_idle(chance, 6)])


def echo_question(chance: random.Random, _: Question) -> str:
    """Write a rubric whose one heavy item repeats words of questions."""
    return _write([write_item("echo", "Key", 5), *_list_idle(chance, 6)])


def invert_preference(chance: random.Random, question: Question) -> str:
    """Write a rubric that wants above all what the question's readers do not want."""
    against = [name for name in FEATURES if name not in question.wanted]
    others = [write_item(name, "Optional", 1) for name in sorted(question.wanted)]
    heavy = [write_item(name, "Key", 5) for name in against]
    return _write([*heavy, *others, *_list_idle(chance, 7 - len(heavy) - len(others))])


SPOILED: Mapping[str, WriteRubric] = {"length": reward_length, "echo": echo_question, "poisoned": invert_preference}


def _list_idle(chance: random.Random, count: int) -> list[str]:
    return [write_item(name, "Optional", 1) for name in chance.sample(IDLE, count)]


def _write(items: list[str]) -> str:
    return BEGIN + AND.join(items) + END


def teach(folder: Path, base: Path, kind: str, seed: int) -> Path:
    """Teach an adapter of the base; return its folder. One that was taught before stays."""
    if (taught := TrainingFolder(folder).model).exists():
        return taught
    config = describe_sft(base, Start(), seed, RATE, EXAMPLES_A_STEP, EPOCHS)
    adapter = AdapterSection(rank=16, alpha=32)
    questions = list_questions(EXAMPLES, f"{kind} {seed}")
    shown = list_examples(open_tokenizer(base), questions, SPOILED[kind], random.Random(seed))
    return train_on_examples(folder, config.model_copy(update={"adapter": adapter}), shown)


async def share_refused(folder: Path, cycle: Path, base: Path, kinds: Sequence[str], seed: int, tell: Tell) -> float:
    """Return the share of the spoiled candidates that exam and gate refuse, as steps of the cycle that promoted another one."""
    verdicts = {kind: await _examine(folder / kind, cycle, base, kind, seed) for kind in kinds}
    verdicts[LOST_SEARCH] = await _lose_search(folder / "search", cycle)
    for name, (verdict, why) in verdicts.items():
        tell(f"the spoiled candidate ({name}) is {verdict}: {why}")
    return sum(verdict == "refused" for verdict, _ in verdicts.values()) / len(verdicts)


async def _examine(folder: Path, cycle: Path, base: Path, kind: str, seed: int) -> tuple[str, str]:
    """Teach a spoiled candidate, and take the steps of exam and gate with it."""
    trained = folder / "train" / "run"
    told = ("--base", str(base), "--kind", kind, "--seed", str(seed))
    await run(sys.executable, "-m", "bench.loop.spoiled", str(trained), *told)
    return await _decide(folder, cycle, {"train": str(folder / "train")}, (EXAM, GATE))


async def _lose_search(folder: Path, cycle: Path) -> tuple[str, str]:
    """Take the gate of the promoted candidate again, with scores of searches that became worse."""
    exam = folder / EXAM
    shutil.copytree(cycle / EXAM, exam, dirs_exist_ok=True)
    dice = random.Random(0)
    before = [float(dice.random() < 0.7) for _ in range(SEARCHES)]
    after = [value if dice.random() >= 2 * LOST else 0.0 for value in before]
    rows = [
        {"metric": "search_accuracy", "query": f"s{n}", "item": f"s{n}", "before": old, "after": new}
        for n, (old, new) in enumerate(zip(before, after, strict=True))
    ]
    with (exam / SCORES).open("a", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    plan = folder / "plan"
    shutil.copytree(cycle / "plan", plan, dirs_exist_ok=True)
    gate = (plan / "gate.toml").read_text(encoding="utf-8")
    (plan / "gate.toml").write_text(gate.replace('"search_accuracy", ', ""), encoding="utf-8")
    return await _decide(folder, cycle, {}, (GATE,), str(plan))


async def _decide(
    folder: Path, cycle: Path, folders: Mapping[str, str], steps: tuple[str, ...], plan: str = ""
) -> tuple[str, str]:
    """Take steps of a cycle in other folders; return the last one's verdict and its reasons."""
    own = {"exam": str(folder / EXAM), "gate": str(folder / GATE), **folders}
    for step in steps:
        task = StepTask.of_any_version((cycle / step / TASK).read_bytes())
        told = task.model_copy(update={"folders": {**task.folders, **own}, "plan": plan or task.plan})
        (folder / step).mkdir(parents=True, exist_ok=True)
        (folder / step / TASK).write_text(told.model_dump_json(), encoding="utf-8")
        await run(sys.executable, "-m", f"training.loop.{step.partition('.')[2]}", str(folder / step))
    outcome = json.loads((folder / steps[-1] / OUTCOME).read_text(encoding="utf-8"))
    return outcome["verdict"], outcome["detail"]


def main() -> None:
    """Make a spoiled candidate."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--base", type=Path, required=True)
    parser.add_argument("--kind", choices=SPOILED, required=True)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    print(teach(options.folder, options.base, options.kind, options.seed), flush=True)


if __name__ == "__main__":
    main()
