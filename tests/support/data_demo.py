"""`make data-demo KIND=graph-queries`: a small training set by a stand-in for a model, with its report, in a minute or two.

Graph queries come from an invented world, the other kinds from the default corpus. Nothing in the sets teaches anything.
"""

import asyncio
import json
import os
import sys
from pathlib import Path

from bench.synthesis_stub.serving import serve_synthesis_stub
from retrieval.search.in_process import SOTU, open_local
from retrieval.search.library import DEFAULT_COLLECTION
from retrieval.store.catalogue import Collection, CorpusKind
from tests.support.model_stub import MODEL
from tests.support.stack import RUBRICA
from tests.training.synthesis.graph_queries.small_world import list_records

OUT, HOME = Path("reports") / "data-demo", Path("reports") / "data-demo-home"
WORLD = "world"
WANTED = {"graph-queries": (WORLD, 20), "evidence-trees": (DEFAULT_COLLECTION, 3), "claim-support": (DEFAULT_COLLECTION, 100)}


async def demonstrate(kind: str) -> int:
    """Index the world, and run the command beside a stub of its own; return its exit code."""
    HOME.mkdir(parents=True, exist_ok=True)
    (HOME / "world.jsonl").write_text("\n".join(json.dumps(record) for record in list_records()))
    corpus, rows = WANTED[kind]
    world = Collection(name=WORLD, kind=CorpusKind.RECORDS, path=str(HOME / "world.jsonl"))
    open_local(HOME, world if corpus == WORLD else SOTU).close()
    async with serve_synthesis_stub() as stub:
        settings = {"RUBRICA_LLM_BASE_URL": stub.base_url, "RUBRICA_LLM_MODEL": MODEL, "RUBRICA_HOME": str(HOME)}
        command = [*RUBRICA, "data", "make", kind, "--corpus", corpus, "--rows", str(rows), "--out", str(OUT / kind)]
        process = await asyncio.create_subprocess_exec(*command, env=os.environ | settings)
        return await process.wait()


if __name__ == "__main__":
    if sys.argv[1:2] and sys.argv[1] in WANTED:
        sys.exit(asyncio.run(demonstrate(sys.argv[1])))
    sys.exit(f"make: name the kind of set: make data-demo KIND=one of {', '.join(WANTED)}")
