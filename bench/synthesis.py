"""`python -m bench.synthesis`: evidence trees and graph queries from Wikipedia, by a model that obeys and by ones that do not.

The models are stubs that take words out of their prompts. Kept rows are checked again by code that shares nothing with their
making. Of each of the planted violations, a few candidates are made: no row that has it may be kept, and a violation that was
never planted counts as missed. `usd_9000` is the price of 9,000 trees at the prices given, from estimated tokens.
"""

import argparse
import asyncio
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date
from itertools import islice
from pathlib import Path
from typing import Any

from app.domain.chat import ChatRequest
from bench.labelled_sets import DATA
from bench.result import print_result, print_skipped
from bench.synthesis_checker.graph_queries import CorpusTexts, Text, check_row
from bench.synthesis_checker.trees import check_tree_row
from bench.synthesis_stub.graph_queries import VIOLATIONS, GraphQueryStub
from bench.synthesis_stub.tree_plants import PLANTS, is_caught
from bench.synthesis_stub.trees import TreeStub
from retrieval.search.in_process import open_local
from retrieval.store.catalogue import Collection, CorpusKind
from training.evaluation.harness.manifest import ModelUsed
from training.evaluation.harness.models import RunModels, ServedModel
from training.synthesis.catalogue import load_kind
from training.synthesis.set_request import SetRequest
from training.synthesis.source_corpus import SourceCorpus
from training.synthesis.training_set.folder import WORK, SetFolder
from training.synthesis.training_set.making import SetMaking
from training.synthesis.training_set.outcome import WorkedCandidate
from training.synthesis.workshop import Workshop
from workflows.agents.codec import SchemaCodec
from workflows.chat_models.scripted import AnswerScript, ScriptedModel
from workflows.judging.batch_record import AnswerStore, BatchRecord
from workflows.prompts.library import PromptLibrary
from workflows.systems.linear_pipeline import Window

TREES, GRAPH = "evidence-trees", "graph-queries"
ROWS = {(TREES, "wiki_en"): 100, (TREES, "wiki_zh"): 100, (GRAPH, "wiki_en"): 500, (GRAPH, "wiki_zh"): 100}
AT_ONCE = 8
PLANTED_ROWS = 3
PLANTED_CANDIDATES = 12
MILLION = 1_000_000
HOME = Path(".rubrica") / "bench-synthesis"
CORPORA = {"wiki_en": "wiki_en/passages.jsonl.gz", "wiki_zh": "wiki_zh/articles.jsonl.gz"}
TODAY = date(2026, 1, 1)
Stub = TreeStub | GraphQueryStub


@dataclass
class SetFindings:
    """What was made and found in all sets. `unjudged` counts rows whose one answer texts alone cannot show."""

    rows: Counter[str] = field(default_factory=Counter)
    tokens: Counter[str] = field(default_factory=Counter)
    violations: list[str] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)
    unjudged: int = 0
    seconds: float = 0.0


@dataclass
class SynthesisBench:
    """The corpora, their texts for the checkers, and where sets are made."""

    corpora: dict[str, SourceCorpus]
    folder: Path
    found: SetFindings = field(default_factory=SetFindings)
    _texts: dict[str, CorpusTexts] = field(default_factory=dict)

    async def measure(self, share: float) -> SetFindings:
        """Make a share of the rows of each set, check them, then plant."""
        for (kind, corpus), rows in ROWS.items():
            await self._make_and_check(kind, corpus, max(1, round(share * rows)))
        for kind, plants in ((TREES, tuple(PLANTS)), (GRAPH, VIOLATIONS)):
            for plant in plants:
                await self._plant(kind, plant)
        return self.found

    async def _make_and_check(self, kind: str, corpus: str, rows: int) -> None:
        began = time.monotonic()
        stub = open_stub(kind)
        worked = await self._make(kind, corpus, rows, stub, 10_000)
        took = time.monotonic() - began
        kept = [show_row(each) for each in worked if each.kept]
        wrong = [fault for row in kept for fault in await self._check(corpus, row, stub)]
        stages = Counter(each.refused.stage for each in worked if each.refused)
        print(
            f"{kind} of {corpus}: {len(kept)} rows in {took:.0f} s, fell out: {dict(stages)}, violations: {wrong[:5]}", flush=True
        )
        self.found.rows[kind] += len(kept)
        self.found.violations += wrong
        self.found.seconds += took
        for each in worked:
            self.found.tokens[f"{kind} in"] += each.usage.input_tokens
            self.found.tokens[f"{kind} out"] += each.usage.output_tokens

    async def _plant(self, kind: str, plant: str) -> None:
        """Break one rule wherever it can be broken; the rows that are kept all the same are looked at by the checker."""
        stub = open_stub(kind, plant)
        worked = await self._make(kind, "wiki_en", PLANTED_ROWS, stub, PLANTED_CANDIDATES)
        kept = [show_row(each) for each in worked if each.kept]
        wrong = [] if has_planted(stub, worked) else [f"{plant} was never planted"]
        wrong += [f"{plant} is kept" for row in kept if isinstance(stub, GraphQueryStub) and row["query"] in stub.planted]
        wrong += [fault for row in kept for fault in await self._check("wiki_en", row, stub)]
        refused = Counter(each.refused.stage for each in worked if each.refused)
        print(f"{kind}, planted {plant}: fell out: {dict(refused)}, kept {len(kept)}, missed: {wrong[:3]}", flush=True)
        self.found.missed += wrong

    async def _make(self, kind: str, corpus: str, rows: int, stub: Stub, candidates: int) -> Sequence[WorkedCandidate]:
        script = stub if isinstance(stub, TreeStub) else lambda request: stub.answer(join_messages(request)) or "{}"
        request = SetRequest(kind, self.folder / f"{kind}-{corpus}-{stub.plant or 'obedient'}", rows, corpora=(corpus,))
        recipe = load_kind(kind).open_recipe(furnish_workshop(request, [self.corpora[corpus]], script))
        answers = AnswerStore()
        journal = SetFolder(request.out)
        (request.out / WORK).mkdir(parents=True)
        making = SetMaking(recipe.make_row, BatchRecord(answers, AT_ONCE), journal, rows, Window(AT_ONCE))
        return await making.work(islice(recipe.candidates, candidates))

    async def _check(self, corpus: str, row: dict[str, Any], stub: Stub) -> list[str]:
        texts = self._read_texts(corpus)
        if isinstance(stub, TreeStub):
            return check_tree_row(row, lambda url: texts.texts[url].text if url in texts.texts else "")
        found = await check_row(row, texts, self.corpora[corpus].search, stub.recall)
        self.found.unjudged += bool(found.unjudged)
        return found.violations

    def _read_texts(self, corpus: str) -> CorpusTexts:
        if corpus not in self._texts:
            found = self.corpora[corpus]
            sources = [document.source for document in found.list_documents()]
            self._texts[corpus] = CorpusTexts({one.url: Text(one.title, found.read_text(one)) for one in sources})
        return self._texts[corpus]


def open_stub(kind: str, plant: str = "") -> Stub:
    """Return the stub of a kind that breaks this rule; an obedient one without any."""
    return TreeStub(plant) if kind == TREES else GraphQueryStub(plant)


def has_planted(stub: Stub, worked: Sequence[WorkedCandidate]) -> bool:
    """Say whether the stub broke its rule at all: for a tree, whether it was caught for it."""
    if isinstance(stub, GraphQueryStub):
        return bool(stub.planted)
    return any(is_caught(stub.plant, each.model_dump(mode="json")) for each in worked)


def show_row(worked: WorkedCandidate) -> dict[str, Any]:
    """Return a kept row as the set's file has it."""
    assert worked.kept is not None
    return {"id": worked.candidate, **worked.kept.model_dump(mode="json", exclude={"data", "counts"}), **worked.kept.data}


def main() -> None:
    """Make, check, plant and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", type=Path, default=HOME, help="where the corpora are indexed")
    parser.add_argument("--share", type=float, default=1.0, help="make this share of the rows")
    parser.add_argument("--input-price", type=float, default=0.28, help="US$ per million tokens read")
    parser.add_argument("--output-price", type=float, default=0.42, help="US$ per million tokens written")
    options = parser.parse_args()
    if not DATA.is_dir():
        return print_skipped("synthesis", f"the corpora are not at {DATA}")
    with open_wikipedias(options.home) as corpora, tempfile.TemporaryDirectory() as folder:
        found = asyncio.run(SynthesisBench(corpora, Path(folder)).measure(options.share))
    print(f"rows whose one answer could not be judged: {found.unjudged}", flush=True)
    price = found.tokens[f"{TREES} in"] * options.input_price + found.tokens[f"{TREES} out"] * options.output_price
    figures = {
        "trees": found.rows[TREES],
        "graph_queries": found.rows[GRAPH],
        "violations": len(found.violations),
        "planted_missed": len(found.missed),
        "per_hour": found.rows.total() / found.seconds * 3_600,
        "usd_9000": price / MILLION / max(1, found.rows[TREES]) * 9_000,
    }
    return print_result("synthesis", figures)


@contextmanager
def open_wikipedias(home: Path) -> Iterator[dict[str, SourceCorpus]]:
    """Open the corpora by name; index those that are missing in the home first, which takes a minute."""
    collections = [Collection(name=name, kind=CorpusKind.RECORDS, path=str(DATA / path)) for name, path in CORPORA.items()]
    with open_local(home, *collections) as local:
        yield {name: SourceCorpus(local, name) for name in CORPORA}


def furnish_workshop(request: SetRequest, corpora: list[SourceCorpus], script: AnswerScript) -> Workshop:
    """Return a workshop whose models answer from a script."""
    served = ServedModel(ScriptedModel(script), ModelUsed(name="stub", codec="schema"))
    return Workshop(request, corpora, RunModels(served, served), PromptLibrary.load(), SchemaCodec(), TODAY)


def join_messages(request: ChatRequest) -> str:
    """Return all texts of a request."""
    return "\n".join(message.content for message in request.messages)


if __name__ == "__main__":
    main()
