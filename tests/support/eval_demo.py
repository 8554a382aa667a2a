"""`make eval-demo DATA=folder`: ten questions of DeepResearch Bench, answered extractively and judged by the stub."""

import asyncio
import os
import sys
from pathlib import Path

from tests.support.model_stub import MODEL, model_stub
from tests.support.stack import RUBRICA

ITEMS = 10
OUT = Path("reports") / "eval-demo"


async def demonstrate(data: str, *arguments: str) -> int:
    """Run the command beside a stub of its own; its exit code."""
    async with model_stub() as stub:
        judge = {"RUBRICA_EVAL_JUDGE_BASE_URL": stub.base_url, "RUBRICA_EVAL_JUDGE_MODEL": MODEL}
        command = [*RUBRICA, "eval", "run", "drb-race", "--data", data, "--limit", str(ITEMS), "--out", str(OUT)]
        process = await asyncio.create_subprocess_exec(*command, "--demonstration", *arguments, env=os.environ | judge)
        return await process.wait()


if __name__ == "__main__":
    sys.exit(asyncio.run(demonstrate(*sys.argv[1:])))
