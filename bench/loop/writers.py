"""The writers: a stand-in for a model whose reports have one planted feature each; it judges the exam too (`judging.py`).

`python -m bench.loop.writers [--port N]` prints its address. Planning, searching and the rest are the stub's own script
(`tests/support/model_stub_script.py`).
"""

import argparse
import asyncio
import signal

from bench.loop.judging import judge_as_reader
from bench.loop.plant import choose_feature, write_report
from tests.support.model_stub import ModelStub, serve_model_stub
from tests.support.model_stub_answers import StubPrompt
from tests.support.model_stub_script import PASSAGE, RunShape, find_question

SHAPE = RunShape(subtasks=1, turns=2, searches=1, quotes=2, sections=1)


def answer(prompt: StubPrompt) -> str | None:
    """Judge or write where that is asked; None for every other step."""
    return judge_as_reader(prompt) or write_as_planted(prompt)


def write_as_planted(prompt: StubPrompt) -> str | None:
    """Write the report where one is asked for; None for every other step."""
    found = [name for name, _ in PASSAGE.findall(prompt.last)]
    if prompt.step or not found:
        return None
    question = find_question(prompt)
    return write_report(question, choose_feature(prompt.model, question), found)


async def serve(port: int) -> None:
    """Serve until SIGTERM or SIGINT."""
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    async with serve_model_stub(ModelStub(shape=SHAPE, answerer=answer), port) as stub:
        print(stub.base_url, flush=True)
        await stop.wait()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="0: a free one")
    asyncio.run(serve(parser.parse_args().port))
