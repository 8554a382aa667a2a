"""Serves the stubs of training sets over a socket, as the paid model that they stand for."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from bench.synthesis_stub.graph_queries import GraphQueryStub
from bench.synthesis_stub.recorded import answer_about_runs
from bench.synthesis_stub.trees import STEPS, TreeStub
from tests.support.model_stub import Answerer, ModelStub, serve_model_stub
from tests.support.model_stub_answers import StubPrompt

GRAPH = "graph_"


@asynccontextmanager
async def serve_synthesis_stub(plant: str = "", stub: ModelStub | None = None) -> AsyncIterator[ModelStub]:
    """Serve a model that obeys, or breaks the rule `plant` wherever it can; `stub` says how slow and how faulty it is."""
    served = stub or ModelStub()
    served.answerer = make_answerer(plant)
    async with serve_model_stub(served) as running:
        yield running


def make_answerer(plant: str) -> Answerer:
    """Return what answers a prompt; None for a prompt that belongs to no set."""
    trees, graph = TreeStub(plant), GraphQueryStub(plant)

    def answer(prompt: StubPrompt) -> str | None:
        if prompt.step in STEPS:
            system, user, *_ = (message["content"] for message in prompt.messages)
            return trees.answer(prompt.step, system, user)
        return graph.answer(prompt.text) if prompt.step.startswith(GRAPH) else answer_about_runs(prompt)

    return answer
