"""A stage of a cycle up to its exam: a plan's files, a set whose rows have their sides, a trained adapter."""

import asyncio
import json
from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

from app.domain.query import Language
from app.domain.retraining import StepOutcome, StepTask
from app.domain.served_models import ModelRole
from app.domain.split import Split
from app.domain.training_stage import ModelServer, TrainingStage
from tests.support.training_sets import refuse_work
from tests.training.loop.reader_export import make_question
from training.decontamination.known_texts import KnownTexts
from training.loop.stage_task import SET
from training.rewards.notations import Notation
from training.synthesis.training_set.finishing import finish_set
from training.synthesis.training_set.folder import SetFolder
from training.synthesis.training_set.manifest import SetOrigin
from training.synthesis.training_set.outcome import KeptRow, WorkedCandidate
from training.synthesis.training_set.recipe import SetRecipe
from workflows.prompts.library import PromptLibrary

KINDS = ("snapshot", "check", "set", "train", "exam", "gate")
GATE = """
stated = 2026-01-01T00:00:00Z
cycle_starts = 2026-01-01T00:00:00Z
gate_judge = "rules"
reward_judge = "rules of the recipe"
set_maker = "readers"
probes = []
"""
WRITER_GATE = f"""{GATE}
untouched = ["search_accuracy", "preference_accuracy"]
superiority = {{metric = "report_rules", gain = 0.1}}
"""
SEARCHER_GATE = f"""{GATE}
untouched = ["citation_support", "preference_accuracy"]
superiority = {{metric = "search_accuracy", gain = 0.3}}
"""
TRAINED = 4
FORM = PromptLibrary.load().get("form_text_tags", Language.ENGLISH).render_text()
PAID, DEEPER = "The state paid for the harbour of Ashford.", "The harbour became four metres deeper in 1902."


def make_report_row(number: int) -> dict[str, Any]:
    """A long row of report data with two passages; the report is asked for in tags."""
    texts = [{"url": f"https://ports.example/{n}", "title": "Ashford", "text": text} for n, text in enumerate((PAID, DEEPER))]
    return {
        "form": "long",
        "system_prompt": f"Write a report. {FORM}",
        "retrieval": texts,
        "outline": {},
        "asked_on": "2026-11-02",
        "rubric": {"weights": {"insight": 1.0}, "criteria": {"insight": [{"criterion": "facts", "weight": 1.0}]}},
        "reference": "# Ashford",
    }


def make_answered_row(number: int) -> dict[str, Any]:
    """A question with its answer, as far as an exam of searches reads a graph query."""
    return {"answer": {"name": f"{number + 3} fathoms", "aliases": []}}


def write_sided_set(
    folder: Path, kind: str, data: Iterable[Mapping[str, Any]], first: int = 0, notation: Notation | None = Notation.TAGS
) -> Path:
    """Write a set: the first rows are for training, all others for the test. No query is like another one."""
    rows = [
        KeptRow(
            query=make_question(first + number),
            topic="ports",
            language=Language.ENGLISH,
            documents=(),
            data=dict(each),
            split=Split.TRAIN if number < TRAINED else Split.TEST,
        )
        for number, each in enumerate(data)
    ]
    worked = [WorkedCandidate(candidate=f"row-{number}", kept=row) for number, row in enumerate(rows)]
    origin = SetOrigin(kind=kind, wanted=len(rows), seed=0, code="invented", today=date(2026, 11, 2), notation=notation)
    with SetFolder(folder).open_work(origin):
        finish_set(SetFolder(folder), origin, SetRecipe((), refuse_work), worked, KnownTexts(), {})
    return folder


def make_task(
    folder: Path, role: ModelRole, exams: Mapping[str, str], gate: str, address: str = "http://127.0.0.1:9/v1"
) -> StepTask:
    """A task of a stage whose plan has these exams, by the names of their files."""
    plan = folder / "plan"
    for each in (plan, *(folder / kind for kind in KINDS), folder / "train/run/model"):
        each.mkdir(parents=True)
    (folder / "train/run/model/adapter_config.json").write_text("{}")
    (plan / "recipe.toml").touch()
    (plan / "gate.toml").write_text(gate)
    for name, text in exams.items():
        (plan / name).write_text(text)
    stage = TrainingStage.model_validate(
        {
            "name": str(role),
            "role": role,
            "recipe": "self_sft",
            "config": "recipe.toml",
            "kind": "report-data",
            "gate": "gate.toml",
            "exam": tuple(exams),
            "server": ModelServer(address=address, base="base"),
        }
    )
    return StepTask(
        cycle=uuid4(),
        step=f"{role}.exam",
        plan=str(plan),
        began_at=datetime.now(UTC),
        since=datetime(2026, 1, 1, tzinfo=UTC),
        stage=stage,
        folders={kind: str(folder / kind) for kind in KINDS},
        sets=(str(folder / "set"),),
        holder="base",
    )


async def take_exam_and_gate(task: StepTask) -> tuple[StepOutcome, StepOutcome]:
    """Take both steps; return their outcomes."""
    from training.loop.exam import examine
    from training.loop.gate import decide_step

    examined = await examine(task, Path(task.folders["exam"]))
    return examined, await asyncio.to_thread(decide_step, task, Path(task.folders["gate"]))


def own_set(task: StepTask) -> Path:
    """Return where the stage's set lies."""
    return Path(task.folders["set"]) / SET


def read_scores(task: StepTask) -> list[dict[str, Any]]:
    """Read the scores that the exam left for the gate."""
    return [json.loads(line) for line in (Path(task.folders["exam"]) / "scores.jsonl").read_text().splitlines()]
