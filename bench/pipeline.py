"""`python -m bench.pipeline`: measure the linear concurrent pipeline (QSR appendix F) against its ideal, |D|/C.

MaMs answers 256 questions in this process: three turns of two searches, each in two chunks, so 16 model calls of which ten follow
each other. The model is a stub in a process of its own that answers after 200 ms; the adapter, the agents, the report stage and
its checks are the product's. Search results are made here: no index is measured. The ideal is ceil(256 / C) times one
question alone; `ratio_C` is the ideal's share of the time it took, `cpu_ms_per_query` this process's at the first width.
"""

import argparse
import gc
import random
import statistics
import tempfile
import time
from collections.abc import Sequence
from datetime import date, timedelta
from math import ceil
from pathlib import Path
from typing import NamedTuple

import uvloop

from app.domain.budget import AgentLimits
from app.domain.errors import ToolError
from app.domain.evidence import Passage, Source, snapshot_hash
from app.domain.query import ResearchQuery, SystemName
from app.domain.report import Report
from bench.processes import read_load_average
from bench.questions import make_question
from bench.result import print_result
from bench.stack import start_model_stub
from retrieval.ports import Document, SearchFilter
from workflows.agents.codec import SchemaCodec
from workflows.agents.kit import Kit
from workflows.agents.ports import ChatModel
from workflows.chat_models.endpoint import ModelEndpoint
from workflows.chat_models.openai_compatible import connect_model
from workflows.prompts.library import PromptLibrary
from workflows.systems.agent_sets import AGENTS
from workflows.systems.linear_pipeline import Window, run_pipeline
from workflows.systems.local import LocalStages
from workflows.systems.local_record import LocalRecord
from workflows.systems.minddr import research
from workflows.systems.steering import PlanSteering
from workflows.tools.tool_memory import DictToolStore, ToolMemory
from workflows.tools.toolbox import ToolCorpora, build_toolbox

QUERIES, WIDTHS = 256, (8, 32, 128)
ALONE = 5
LATENCY = timedelta(milliseconds=200)
PASSAGE_SENTENCES = 7
WORDS = ("tariff", "revenue", "industry", "duty", "wool", "import", "session", "message", "surplus", "debt", "labor", "market")
SENTENCES_MADE, SENTENCE_WORDS = 1_000, 19


class MadeUpSearcher:
    """A searcher that finds passages for every query, the same ones for the same query. Sentences are made at the start."""

    def __init__(self) -> None:
        dice = random.Random(0)
        made = (" ".join(dice.choices(WORDS, k=SENTENCE_WORDS)).capitalize() for _ in range(SENTENCES_MADE))
        self._sentences = [f"{words}." for words in made]

    async def search(self, query: str, limit: int, where: SearchFilter) -> Sequence[Passage]:
        """Return passages of about 900 characters."""
        dice = random.Random(query)
        return [self._make_passage(dice) for _ in range(limit)]

    async def read(self, url: str) -> Document:
        """Refuse: there are no pages here."""
        raise ToolError(f"nothing is stored under {url}")

    def _make_passage(self, dice: random.Random) -> Passage:
        text = " ".join(dice.choices(self._sentences, k=PASSAGE_SENTENCES))
        name = snapshot_hash(text)
        source = Source(url=f"https://example.org/{name[:12]}", title=f"Message {name[:4]}", snapshot=name)
        return Passage(source=source, text=text, start=0, end=len(text))


PROMPTS, SHELF = PromptLibrary.load(), MadeUpSearcher()


class PipelineLevel(NamedTuple):
    """The cost of a width: seconds for all questions, and milliseconds of this process's CPU a question."""

    elapsed_s: float
    cpu_ms: float


async def research_question(number: int, chat: ChatModel) -> Report:
    """Research one question to its report."""
    query = ResearchQuery(question=make_question(number), system=SystemName.MAMS)
    record = LocalRecord(str(number))
    tools = build_toolbox(SHELF, SHELF, ToolCorpora(), ToolMemory(DictToolStore()))
    limits = AgentLimits(max_turns=10, max_tool_calls=20)
    kit = Kit(chat, tools, record, PROMPTS, SchemaCodec(), date(2026, 1, 1), lambda: 0.0, limits)
    return await research(query, LocalStages(AGENTS[query.system], kit, record, query), PlanSteering())


async def measure_level(chat: ChatModel, numbers: range, at_once: int) -> PipelineLevel:
    """Answer these questions, so many at once."""

    def note_written(number: int, written: Report) -> None:
        if len(written.quotes) < PASSAGE_SENTENCES:
            raise RuntimeError(f"question {number} was hardly answered: {written}")

    cpu, began = time.process_time(), time.perf_counter()
    count = await run_pipeline(numbers, lambda number: research_question(number, chat), note_written, Window(at_once))
    return PipelineLevel(time.perf_counter() - began, (time.process_time() - cpu) * 1_000 / count)


async def run(base_url: str, queries: int, widths: Sequence[int]) -> None:
    found: dict[str, float] = {}
    cpu_ms = list[float]()
    async with connect_model(ModelEndpoint(base_url, "stub")) as chat:
        await research_question(1_000, chat)  # the first pays for what is loaded once
        gc.freeze()
        alone = statistics.median([(await measure_level(chat, range(n, n + 1), 1)).elapsed_s for n in range(900, 900 + ALONE)])
        for width in widths:
            measured = await measure_level(chat, range(queries), width)
            found[f"ratio_{width}"] = ceil(queries / width) * alone / measured.elapsed_s
            cpu_ms.append(measured.cpu_ms)
            share = measured.cpu_ms * queries / 1_000 / measured.elapsed_s
            print(
                f"{width:3d} at once: {queries} in {measured.elapsed_s:.1f} s, one alone {alone:.2f} s; {measured.cpu_ms:.1f} ms"
                f" CPU a question, {share:.0%} of a core (load {read_load_average():.1f})",
                flush=True,
            )
    print_result("pipeline", {**found, "cpu_ms_per_query": cpu_ms[0]})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=int, default=QUERIES)
    parser.add_argument("--widths", type=int, nargs="+", default=list(WIDTHS))
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory(prefix="rubrica-bench-") as folder,
        start_model_stub(Path(folder) / "bill", LATENCY) as stub,
    ):
        uvloop.run(run(stub.base_url, options.queries, options.widths))


if __name__ == "__main__":
    main()
