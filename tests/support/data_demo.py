"""`make data-demo KIND=graph-queries`: a small training set by a stand-in for a model, with its report, in a minute or two.

Graph queries come from an invented world, and so do the recorded runs of the kinds that are made of runs; the other kinds come
from the default corpus. Nothing in the sets teaches anything. Each time the set is made anew.
"""

import asyncio
import os
import shutil
import sys
from pathlib import Path

from bench.synthesis_stub.serving import serve_synthesis_stub
from retrieval.search.in_process import SOTU, open_local
from retrieval.search.library import DEFAULT_COLLECTION
from tests.support.model_stub import MODEL
from tests.support.recorded_demo import FROM_RUNS, WORLD, describe_world, list_inputs, record_runs
from tests.support.stack import RUBRICA

OUT, HOME = Path("reports") / "data-demo", Path("reports") / "data-demo-home"
FROM_CORPUS = {
    "graph-queries": ("--corpus", WORLD, "--rows", "20"),
    "evidence-trees": ("--corpus", DEFAULT_COLLECTION, "--rows", "3"),
}
ROWS = "30"


async def demonstrate(kind: str, out: Path = OUT, home: Path = HOME) -> int:
    """Index what the set is made of, record runs if it needs any, and run the command beside a stub; return its exit code."""
    for old in (out / kind, home / "runs"):
        shutil.rmtree(old, ignore_errors=True)
    of_sotu = DEFAULT_COLLECTION in FROM_CORPUS.get(kind, ())
    open_local(home, SOTU if of_sotu else describe_world(home)).close()
    async with serve_synthesis_stub() as stub:
        settings = {"RUBRICA_LLM_BASE_URL": stub.base_url, "RUBRICA_LLM_MODEL": MODEL, "RUBRICA_HOME": str(home)}
        if kind in FROM_RUNS:
            await record_runs(home / "runs", settings)
        source = FROM_CORPUS.get(kind) or ("--rows", ROWS, *list_inputs(kind, home / "runs"))
        command = [*RUBRICA, "data", "make", kind, *source, "--out", str(out / kind)]
        process = await asyncio.create_subprocess_exec(*command, env=os.environ | settings)
        return await process.wait()


if __name__ == "__main__":
    kinds = (*FROM_CORPUS, *FROM_RUNS)
    if sys.argv[1:2] and sys.argv[1] in kinds:
        sys.exit(asyncio.run(demonstrate(sys.argv[1])))
    sys.exit(f"make: name the kind of set: make data-demo KIND=one of {', '.join(kinds)}")
