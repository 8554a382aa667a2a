"""`rubrica retrain start --dry-run` says what a cycle would do, and refuses what a cycle would refuse, in the same words."""

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest

from app.domain.errors import InvalidInput, NotFound, RubricaError
from app.models.service.plan_files import read_plan
from infra.cli.retrain_commands import describe, find_cycle
from tests.support.adapter_server import serve_adapters
from tests.training.loop.example_plan import EXAMPLE, change, copy_example
from training.loop.check_plan import check_plan_files

DOCS = Path(__file__).resolve().parents[2] / "docs"
WRITER = """
[[stages]]
name = "writer"
role = "writer"
recipe = "preference_dpo"
config = "dpo.toml"
kind = "self-samples"
inputs = ["{source}"]
generator = "rubric"
gate = "writer-gate.toml"
exam = "writer-exam.toml"
server = {{address = "http://127.0.0.1:9/v1", base = "base"}}
"""
DPO = '[model]\nbase = "base"\n[data]\nsets = ["@set"]\nmax_tokens = 100\n[optimizer]\nlearning_rate = 1e-6\n'
WRITER_GATE = """
stated = 2026-01-01T00:00:00Z
gate_judge = "rules"
reward_judge = "judge"
set_maker = "samples"
probes = []
untouched = ["search_accuracy", "preference_accuracy"]
superiority = {metric = "report_rules", gain = 0.1}
"""


async def test_the_example_of_the_docs_can_be_started(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan, settings = copy_example(tmp_path)
    async with serve_adapters() as server:
        change(plan, "plan.toml", "http://127.0.0.1:8000/v1", server.url)
        assert await describe(settings, plan.parent) == 0
        told = capsys.readouterr().out
        assert f"{server.url} has base\n" in told
    assert "rubric.canary  (a person must agree)" in told
    assert "rubric: of 400 questions, 200 are asked by the exam; the gate takes 149 or more\n" in told
    assert "is not promoted" not in told
    assert "warning: reward-judge is to be asked, and there is no answer from http://127.0.0.1:8001/v1/models" in told


def test_the_docs_quote_the_example_as_it_is() -> None:
    told = (DOCS / "loop.md").read_text(encoding="utf-8")
    assert [file.name for file in sorted(EXAMPLE.glob("*.toml")) if file.read_text(encoding="utf-8") not in told] == []


def test_a_plan_that_holds_out_too_little_says_how_many_votes_it_takes(tmp_path: Path) -> None:
    plan, settings = copy_example(tmp_path)
    change(plan, "plan.toml", "test = 0.5", "test = 0.1")
    change(plan, "plan.toml", "least_pairs = 400", "least_pairs = 100")
    told = check_plan_files(plan, read_plan(plan), settings)
    assert told[0] == "rubric: of 100 questions, 10 are asked by the exam; the gate takes 149 or more"
    assert "it takes votes on 1490 questions" in told[1]


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("recipe.toml", 'base = "base"', 'base = "nowhere"', "the base model 'nowhere' cannot be loaded"),
        ("recipe.toml", 'base = "base"', 'base = "Qwen/Qwen3-4B"', "a model of the hub is named with its revision"),
        ("recipe.toml", '"@set"', '"/nowhere/set"', "there is no finished set in /nowhere/set"),
        ("recipe.toml", "most_tokens", "most_tokenz", "there is no such key; is most_tokens meant"),
        ("recipe.toml", "http://127.0.0.1:8001/v1", "http://127.0.0.1:8002/v1", None),
        ("recipe.toml", '8001/v1"\nmodel = "reward-judge"', '8002/v1"\nmodel = "gate-judge"', "have one judge"),
        ("gate.toml", "stated = 2026", "stated = 2096", "margins come first"),
        ("gate.toml", 'reward_judge = "reward-judge"', 'reward_judge = "gate-judge"', "three different ones"),
        ("gate.toml", '["search_accuracy", "citation_support"]', "[]", "wants citation_support, search_accuracy proven"),
        ("gate.toml", "untouched", "untuched", "there is no such key; is untouched meant"),
        ("exam.toml", '"rubrics"', '"rubriks"', "rubriks"),
        ("plan.toml", 'recipe = "rubric_generator"', 'recipe = "rubric_generators"', "there is no recipe"),
        ("plan.toml", 'kind = "preference-pairs"', 'kind = "preference-pairs"\noptions = {fev = "yes"}', "has no option 'fev'"),
        ("plan.toml", "caps", "capz", "there is no such key; is caps meant"),
        ("plan.toml", "least_readers", "least_reader", "least_reader: there is no such key; is least_readers meant"),
        ("plan.toml", "least_rows", "leest_rows", "stages.0.leest_rows: there is no such key; is least_rows meant"),
        ("plan.toml", "least_runs", "last_runs", "canary.last_runs: there is no such key; is least_runs meant"),
    ],
)
async def test_a_dry_run_refuses_what_a_cycle_would(tmp_path: Path, file: str, old: str, new: str, message: str | None) -> None:
    plan, settings = copy_example(tmp_path)
    change(plan, file, old, new)
    if message is None:
        assert await describe(settings, plan) == 0
        return
    with pytest.raises(RubricaError, match=re.escape(message)):
        await describe(settings, plan)


class NewestCycles:
    """The newest cycles of a deployment, as far as their ids are asked for."""

    def __init__(self, *ids: UUID) -> None:
        self._ids = ids

    async def list_page(self, most: int) -> list[Any]:
        return [SimpleNamespace(cycle=SimpleNamespace(id=each)) for each in self._ids]


async def test_a_cycle_is_named_by_the_beginning_of_its_id() -> None:
    one, other = UUID(int=0xAB << 120), UUID(int=0xAC << 120)
    cycles: Any = NewestCycles(one, other)
    assert [await find_cycle(cycles, told) for told in ("ab", "AC0", str(one))] == [one, other, one]
    for told, message in (("a", "2 cycles begin with 'a'"), ("ff", "no cycles begin with 'ff'")):
        with pytest.raises(NotFound, match=message):
            await find_cycle(cycles, told)


async def test_a_server_that_lists_other_models_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan, settings = copy_example(tmp_path)
    async with serve_adapters() as server:
        change(
            plan,
            "plan.toml",
            'server = {address = "http://127.0.0.1:8000/v1", base = "base"}',
            f'server = {{address = "{server.url}", base = "ours"}}',
        )
        assert await describe(settings, plan) == 0
    assert f"warning: {server.url} does not list ours; it has base\n" in capsys.readouterr().out


async def test_a_dry_run_says_of_what_each_set_is_made(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan, settings = copy_example(tmp_path)
    source = tmp_path / "reports"
    with plan.open("a") as file:
        file.write(WRITER.format(source=source))
    texts = {"dpo.toml": DPO, "writer-gate.toml": WRITER_GATE, "writer-exam.toml": 'kind = "reports"\n'}
    for name, text in texts.items():
        (plan.parent / name).write_text(text)
    with pytest.raises(InvalidInput, match="no such path"):
        await describe(settings, plan)
    source.mkdir()
    assert await describe(settings, plan) == 0
    told = capsys.readouterr().out
    assert "  made of @export\n" in told
    assert f"  made of {source}; rubrics by the version of rubric, or else what has the role rubric by then\n" in told
