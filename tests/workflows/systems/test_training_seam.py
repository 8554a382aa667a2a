"""The seam that training stands on: the agents run in process, token ids are kept, and no server's library is loaded."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
FOREIGN = ("temporalio", "litestar", "sqlmodel", "sqlalchemy", "asyncpg", "torch")
PROGRAM = """
import asyncio, json, sys
from app.domain.chat import SampledTokens
from app.domain.trajectory import TurnKind
from tests.workflows.agent_kit import make_kit, make_record, run_chain
from tests.workflows.sensible_model import answer_sensibly
from workflows.chat_models.scripted import ScriptedModel

def sample(request, text):
    prompt = tuple("".join(m.content for m in request.messages).encode())
    return SampledTokens(prompt_ids=prompt[-50:], completion_ids=tuple(text.encode()), logprobs=(-0.1,) * len(text.encode()))

async def main():
    record = make_record()
    model = ScriptedModel(answer_sensibly, sample=sample)
    report = await run_chain(make_kit(model, record), record, "How did presidents justify tariffs before 1900?")
    turns = [t for t in record.trajectory.turns if t.kind is TurnKind.MODEL]
    print(json.dumps({
        "agents": sorted({t.agent.partition("/")[0] for t in turns}),
        "turns": len(turns),
        "asked": len(model.requests),
        "ids_kept": all(bytes(t.completion.sampled.completion_ids).decode() == t.completion.text for t in turns),
        "logprobs_kept": all(len(t.completion.sampled.logprobs) == len(t.completion.sampled.completion_ids) for t in turns),
        "sections": len(report.sections),
        "loaded": sorted({name.partition(".")[0] for name in sys.modules}),
    }))

asyncio.run(main())
"""


LOADED = "\nimport json, sys\nprint(json.dumps(sorted({name.partition('.')[0] for name in sys.modules})))"


def run(program: str) -> list[str]:
    """What a program of its own prints, line by line."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_the_chain_runs_in_process_with_token_ids_and_without_server_libraries() -> None:
    [line] = run(PROGRAM)
    told = json.loads(line)
    assert told["agents"] == ["plan", "report", "search", "second_plan"]
    assert told["turns"] == told["asked"] > 8
    assert told["ids_kept"]
    assert told["logprobs_kept"]
    assert told["sections"] > 0
    assert not set(FOREIGN) & set(told["loaded"])


def test_the_program_of_the_documentation_runs_as_printed() -> None:
    page = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
    [program] = re.findall(r"^```python\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    title, *told, loaded = run(program + LOADED)
    assert title == "Why were there tariffs?"
    assert "search/s1 search {'query': 'tariff'}" in told
    turns = [line for line in told if not line.startswith("- ")]
    assert {line.split()[0].partition("/")[0] for line in turns} == {"plan", "search", "report"}
    sampled = tuple(b'{"though')
    assert f"search/s1 act {sampled}" in told
    assert not set(FOREIGN) & set(json.loads(loaded))
