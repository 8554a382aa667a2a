"""The stand-in for a model makes rows of the kinds of sets that are made of recorded runs."""

from pathlib import Path

import pytest

from app.settings import Settings
from bench.result import add_figures
from bench.synthesis_stub.serving import serve_synthesis_stub
from tests.training.synthesis.recorded_run_folders import make_report, write_run
from tests.training.synthesis.report_rows import write_prompts
from training.synthesis.make_requested_set import make_requested_set
from training.synthesis.set_request import SetRequest

QUESTIONS = [f"How was harbour number {n} of Ashford deepened?" for n in range(6)]


@pytest.mark.parametrize("kind", ["preference-pairs", "self-samples"])
async def test_runs_become_rows(kind: str, tmp_path: Path) -> None:
    short = {question: make_report("It was deepened {0}.") for question in QUESTIONS}
    long = {question: make_report("It was deepened, as the council had asked {0}. The state paid {1}.") for question in QUESTIONS}
    runs = (
        write_run(tmp_path / "one", "m1", "minddr", None, short),
        write_run(tmp_path / "two", "m2", "react", 0.7, long),
    )
    inputs = runs if kind == "preference-pairs" else (write_prompts(tmp_path / "prompts.jsonl", 6),)
    options = {"benchmark": "drb-race"} if kind == "preference-pairs" else {"base": "stub@1"}
    async with serve_synthesis_stub() as stub:
        settings = Settings.model_validate({"llm_base_url": stub.base_url, "llm_model": "stub", "home": tmp_path})
        request = SetRequest(kind, tmp_path / "set", 6, inputs=inputs, options=options)
        manifest = await make_requested_set(settings, request, lambda _: None)
    assert sum(manifest.rows.values()) >= 3, manifest.refused


def test_the_figures_of_pieces_add_up(tmp_path: Path) -> None:
    earlier = tmp_path / "earlier.log"
    earlier.write_text('trajectories: ...\n{"bench": "synthesis_resume", "figures": {"kills": 40, "identical": 3}}\n')
    assert add_figures({"kills": 20, "identical": 1}, earlier) == {"kills": 60, "identical": 4}
    assert add_figures({"kills": 20}, None) == {"kills": 20}
