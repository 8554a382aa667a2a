"""Records a run of MindDR's chain over the small benchmark with a stub for a model, as `rubrica eval run` does."""

import json
from pathlib import Path

from app.domain.query import SystemName
from app.domain.trajectory import Turn
from app.domain.writer import Composition
from app.settings import Settings
from tests.support.model_stub import ModelStub
from tests.support.model_stub_answers import StubPrompt
from tests.training.evaluation.small_benchmark import index_collection, write_benchmark
from training.evaluation.harness.folder import RunFolder
from training.evaluation.harness.run_request import RunRequest
from training.evaluation.harness.starting import run_benchmark

CRITERIA = [{"criterion": name, "explanation": f"{name} is there", "weight": 0.5} for name in ("reasons", "effects")]
WARES = ("iron", "wool", "cotton", "glass", "paper", "sugar", "hemp", "salt", "lead", "silk", "coal", "tea")
SAID = "Presidents said that the duties protected the young makers of {}."
REFERENCE = "# The tariff\n\n" + " ".join(map(SAID.format, WARES))


def play_report_writer(reference: str = REFERENCE) -> ModelStub:
    """A stub that works as usual, writes rubrics, and writes this reference."""

    def answer(prompt: StubPrompt) -> str | None:
        if prompt.step == "race_weights":
            return json.dumps({"comprehensiveness": 0.4, "insight": 0.3, "instruction_following": 0.2, "readability": 0.1})
        if prompt.step == "race_criteria":
            return json.dumps({"criteria": CRITERIA})
        return reference if "<criteria>\ncomprehensiveness" in prompt.last else None

    return ModelStub(answerer=answer)


def describe_home(folder: Path, base_url: str, **settings: str) -> Settings:
    return Settings.model_validate({"llm_base_url": base_url, "llm_model": "stub", "home": folder / "home", **settings})


async def record_run(folder: Path, settings: Settings, composition: Composition | None = None) -> Path:
    """Record the chain on the first question over a collection that answers it; return the run's folder."""
    write_benchmark(folder / "data")
    index_collection(folder / "home", folder / "docs")
    wish = RunRequest(
        "drb-race",
        folder / "data",
        folder / "run",
        collections=("small",),
        system=SystemName.MINDDR,
        ids=("1",),
        composition=composition,
    )
    await run_benchmark(settings, wish, lambda _: None)
    return folder / "run"


def read_writing_turn(run: Path) -> Turn:
    """Read the turn of the one writing call."""
    (turn,) = (turn for turn in RunFolder(run).read_turns("1") if turn.step == "single_pass")
    return turn
