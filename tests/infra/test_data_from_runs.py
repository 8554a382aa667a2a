"""`rubrica data`: sets from evaluation runs, with a model behind a socket, with people, and with a planted rule."""

import asyncio
import json
from asyncio.subprocess import PIPE
from collections import Counter
from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.support.model_stub import ModelStub, serve_model_stub
from tests.support.model_stub_answers import StubPrompt
from tests.support.stack import RUBRICA, command_environment, run_rubrica
from tests.training.synthesis.recorded_run_folders import make_report, write_run
from tests.training.synthesis.report_rows import write_prompts

QUESTIONS = [f"How was the harbour of {name} deepened, and who paid?" for name in ("Ashford", "Brindle", "Corwen")]
TABLE = (
    "It was deepened {0}, which the state paid.\n\n| what | value |\n| --- | --- |\n| depth | four {0} |\n| payer | state {1} |"
)
PROSE = "It was deepened by four metres {0}, which the state paid {1}. BETTER words are not known."


@pytest.fixture
def runs(tmp_path: Path) -> list[str]:
    """Two runs that answer three questions."""
    one = write_run(tmp_path / "one", "m1", "minddr", 0.2, {q: make_report(TABLE) for q in QUESTIONS})
    two = write_run(tmp_path / "two", "m2", "mams", 0.9, {q: make_report(PROSE) for q in QUESTIONS})
    return ["--option", "benchmark=drb-race", "--input", str(one), "--input", str(two)]


def read_rows(out: Path) -> list[dict[str, Any]]:
    return [orjson.loads(line) for file in out.glob("*/rows.jsonl") for line in file.read_bytes().splitlines()]


class Judge:
    """Prefers what says BETTER. As a policy, it says something else each time it is asked the same."""

    def __init__(self) -> None:
        self.asked = Counter[str]()

    def __call__(self, prompt: StubPrompt) -> str:
        self.asked[prompt.last] += 1
        match prompt.step:
            case "report_flaws":
                return json.dumps({"errors": [], "aggregation": "no"})
            case "pairwise":
                better = "A" if "BETTER" in prompt.last.partition("<answer_b>")[0] else "B"
                return json.dumps({"analysis": "", "better": better})
            case "pointwise" | "criterion_met":
                return json.dumps({"analysis": "", "score": 4 if "[1]" in prompt.last.rpartition("<answer>")[2] else 1})
            case _:
                cites = " [q1][q2]" if self.asked[prompt.last] % 2 else ""
                return f"# A harbour\n\nIt was deepened{cites}. This is answer {self.asked[prompt.last]}."


async def run_with_model(home: Path, *arguments: str, code: int = 0) -> tuple[str, int]:
    """Run the command with a model behind a socket; return what it printed, and the number of its calls."""
    async with serve_model_stub(ModelStub(answerer=Judge())) as stub:
        settings = {"RUBRICA_LLM_BASE_URL": stub.base_url, "RUBRICA_LLM_MODEL": "stub", "RUBRICA_HOME": str(home)}
        process = await asyncio.create_subprocess_exec(
            *RUBRICA, *arguments, env=command_environment(**settings), stdout=PIPE, stderr=PIPE
        )
        told, said = await process.communicate()
        assert process.returncode == code, said.decode()
        return told.decode(), stub.bill.outcomes.get("answered", 0)


async def test_a_model_judges_pairs_and_is_asked_nothing_twice(tmp_path: Path, runs: list[str]) -> None:
    command = ["data", "make", "preference-pairs", *runs, "--rows", "3", "--out", str(tmp_path / "set")]
    told, calls = await run_with_model(tmp_path / "home", *command)
    assert str(tmp_path / "set/report.html") in told
    assert calls == 3 * (2 + 2 + 2), "flaws and points of two reports, and both orders"
    rows = read_rows(tmp_path / "set")
    assert len(rows) == 3
    assert all("BETTER" in row["accepted"]["text"] and row["judged_by"] == "model" for row in rows)
    assert "judge: choices that change with the order" in (tmp_path / "set/report.html").read_text()
    assert (await run_with_model(tmp_path / "home", *command))[1] == 0


async def test_people_review_pairs_on_the_terminal(tmp_path: Path, runs: list[str]) -> None:
    home, people = tmp_path / "home", tmp_path / "people"
    command = ["data", "make", "preference-pairs", *runs, "--out", str(tmp_path / "set"), "--option", f"review={people}"]
    assert "refused: review" in (await run_with_model(home, *command, code=1))[0]
    process = await asyncio.create_subprocess_exec(
        *RUBRICA, "data", "review", str(people), "--reviewer", "ada", env=command_environment(), stdin=PIPE, stdout=PIPE
    )
    told, _ = await process.communicate(b"x\nl\n2\ns\nt\n")
    assert "2 left for ada" not in told.decode()
    assert "1 left for ada" in told.decode()
    await run_with_model(home, *command)
    (row,) = read_rows(tmp_path / "set")
    assert (row["judged_by"], row["judge"]) == ("reviewers", "ada")


async def test_a_policy_is_sampled_and_scored(tmp_path: Path) -> None:
    prompts = write_prompts(tmp_path / "prompts.jsonl", 3)
    command = ["data", "make", "self-samples", "--input", str(prompts), "--option", "samples=2", "--option", "preset=reports"]
    command += ["--out", str(tmp_path / "set"), "--option", "temperature=0.9", "--option", "base=stub@1"]
    told, _ = await run_with_model(tmp_path / "home", *command)
    rows = read_rows(tmp_path / "set")
    assert len(rows) == 3, told
    assert all("[q1]" in row["chosen"] and "[q1]" not in row["rejected"] for row in rows)
    assert (await run_with_model(tmp_path / "home", *command))[1] == 0


def test_a_planted_rule_needs_no_model(tmp_path: Path, runs: list[str]) -> None:
    home, out = tmp_path / "home", tmp_path / "set"
    done = run_rubrica(home, "data", "make", "preference-pairs", *runs, "--out", str(out), "--option", "planted=table")
    assert done.returncode == 0, done.stderr
    assert {row["accepted"]["lineage"]["run"] for row in read_rows(out)} == {"one"}
    for arguments, message in (
        (("preference-pairs", *runs), "preference-pairs needs a model"),
        (("preference-pairs", *runs[:4], "--option", "planted=table"), "no question has reports of 2 models"),
        (("self-samples",), "needs an --input"),
    ):
        refused = run_rubrica(home, "data", "make", *arguments, "--out", str(tmp_path / "none"))
        assert (refused.returncode, message in refused.stderr) == (2, True), refused.stderr
    refused = run_rubrica(home, "data", "review", str(tmp_path / "nobody"), "--reviewer", "ada")
    assert (refused.returncode, "has no pairs" in refused.stderr) == (2, True), refused.stderr
