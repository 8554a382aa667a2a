"""The seam that training stands on: the agents run in process, token ids are kept, and no server's library is loaded."""

import json
import os
import subprocess
import sys
from pathlib import Path

FOREIGN = ("temporalio", "litestar", "sqlmodel", "sqlalchemy", "asyncpg", "torch")
PROGRAM = """
import asyncio, json, sys
from app.domain.chat import SampledTokens
from app.domain.trajectory import TurnKind
from tests.workflows.bench_of_agents import make_kit, new_record, run_chain
from tests.workflows.sensible import sensible
from workflows.chat_models.scripted import ScriptedModel

def sample(request, text):
    prompt = tuple("".join(m.content for m in request.messages).encode())
    return SampledTokens(prompt_ids=prompt[-50:], completion_ids=tuple(text.encode()), logprobs=(-0.1,) * len(text.encode()))

async def main():
    record = new_record()
    model = ScriptedModel(sensible, sample=sample)
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


def test_the_chain_runs_in_process_with_token_ids_and_without_server_libraries() -> None:
    root = Path(__file__).parents[3]
    environment = {**os.environ, "PYTHONPATH": str(root)}
    done = subprocess.run([sys.executable, "-c", PROGRAM], cwd=root, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["agents"] == ["plan", "report", "search"]
    assert told["turns"] == told["asked"] > 8
    assert told["ids_kept"]
    assert told["logprobs_kept"]
    assert told["sections"] > 0
    assert not set(FOREIGN) & set(told["loaded"])
