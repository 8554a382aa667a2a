"""`make eval-demo DATA=folder`: ten questions of DeepResearch Bench, answered in quotations from this project's own documentation
and judged by the stub. It shows how a run works, in seconds; it measures nothing.
"""

import asyncio
import os
import sys
from pathlib import Path

from retrieval.search.in_process import open_local
from retrieval.store.catalogue import Collection, CorpusKind
from tests.support.model_stub import MODEL, serve_model_stub
from tests.support.stack import ROOT, RUBRICA

ITEMS = 10
OUT, HOME = Path("reports") / "eval-demo", Path("reports") / "eval-demo-home"
COLLECTION = "documentation"


async def demonstrate(data: str, *arguments: str) -> int:
    """Run the command beside a stub of its own; return its exit code."""
    open_local(HOME, Collection(name=COLLECTION, kind=CorpusKind.FOLDER, path=str(ROOT / "docs"))).close()
    async with serve_model_stub() as stub:
        judge = {"RUBRICA_EVAL_JUDGE_BASE_URL": stub.base_url, "RUBRICA_EVAL_JUDGE_MODEL": MODEL, "RUBRICA_HOME": str(HOME)}
        command = [*RUBRICA, "eval", "run", "drb-race", "--data", data, "--limit", str(ITEMS), "--out", str(OUT)]
        command += ["--collection", COLLECTION, "--demonstration", *arguments]
        process = await asyncio.create_subprocess_exec(*command, env=os.environ | judge)
        return await process.wait()


if __name__ == "__main__":
    sys.exit(asyncio.run(demonstrate(*sys.argv[1:])))
