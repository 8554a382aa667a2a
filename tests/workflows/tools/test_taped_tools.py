"""Tapes: a run's tool results saved to one file and played back, without a socket."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from app.domain.errors import InvalidInput, ToolError, ToolUnavailable
from app.domain.report import Report
from retrieval.outside import http
from retrieval.outside.entrance import Entrance
from retrieval.outside.memory import MemorySharedStore
from retrieval.outside.services import PROVIDERS
from retrieval.outside.web.searching import OutsideSearch
from retrieval.tape import Tape
from tests.support.outside_stub import answer_with, serve_outside
from tests.workflows.agent_kit import make_kit, make_record, run_chain
from tests.workflows.sensible_model import answer_sensibly
from tests.workflows.small_corpus import SmallCorpus
from workflows.agents.ports import Tool
from workflows.chat_models.scripted import ScriptedModel
from workflows.tools.taped_tools import CallNotRecorded, TapeMode, tape_of, tape_tools
from workflows.tools.tool_memory import DictToolStore, ToolMemory
from workflows.tools.toolbox import NO_OUTSIDE_TOOLS, OutsideTools, ToolCorpora, build_toolbox

QUESTION = "How did presidents justify tariffs before 1900?"
FOUND = [
    {"title": "On the web", "link": "https://web.example/1", "snippet": "The tariff of 1890 was defended as the shield of labor."}
]
ROOT = Path(__file__).parents[3]
REPLAY = """
import asyncio, sys
from pathlib import Path

async def main():
    sys.addaudithook(refuse)
    from tests.workflows.tools.test_taped_tools import Tape, build_tools, play_back, reported
    report = await reported(play_back(build_tools(), Tape.load(Path(sys.argv[1]))))
    sys.stdout.write(report.model_dump_json())

def refuse(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.bind", "socket.sendto"):
        raise RuntimeError(f"a socket was used: {event} {arguments}")

asyncio.run(main())
"""


def build_tools(outside: OutsideTools = NO_OUTSIDE_TOOLS) -> dict[str, Tool]:
    corpus = SmallCorpus()
    return build_toolbox(corpus, corpus, ToolCorpora(), ToolMemory(DictToolStore()), outside=outside)


def play_back(tools: Mapping[str, Tool], tape: Tape) -> dict[str, Tool]:
    return tape_tools(tools, tape, TapeMode.STRICT)


async def reported(tools: dict[str, Tool]) -> Report:
    """The chain's report with these tools."""
    record = make_record()
    kit = replace(make_kit(ScriptedModel(answer_sensibly), record), tools=tools)
    return await run_chain(kit, record, QUESTION)


async def test_a_run_that_used_the_web_replays_without_a_socket(tmp_path: Path) -> None:
    tape, file = Tape(), tmp_path / "run.tape"
    async with serve_outside(answer_with({"organic": FOUND})) as stub, http.open_exchange() as exchange:
        serper = replace(PROVIDERS["serper"]("k"), url=stub.url)
        web = OutsideSearch("web", Entrance(MemorySharedStore()), exchange, [serper])
        report = await reported(tape_tools(build_tools(OutsideTools(web=web)), tape, TapeMode.RECORD))
        assert stub.seen
    assert any(quote.source.url == "https://web.example/1" for quote in report.quotes)
    tape.save(file)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", REPLAY, str(file)]
    done = await asyncio.to_thread(subprocess.run, command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == report.model_dump(mode="json")


async def test_a_call_that_is_not_on_the_tape_is_an_error_or_is_made(tmp_path: Path) -> None:
    tools, tape = build_tools(), Tape()
    await tape_tools(tools, tape, TapeMode.RECORD)["search"].call({"query": "tariff"})
    assert len(tape) == 1
    with pytest.raises(CallNotRecorded, match="surplus"):
        await play_back(tools, tape)["search"].call({"query": "surplus"})
    made = await tape_tools(tools, tape, TapeMode.FALL_THROUGH)["search"].call({"query": "surplus"})
    assert made.passages
    assert len(tape) == 1
    assert (await play_back(tools, tape)["search"].call({"query": " tariff "})).passages


async def test_a_failure_replays_as_a_failure_and_an_outage_is_not_recorded() -> None:
    class Failing:
        name, description = "search", ""
        parameters: Mapping[str, object] = {}
        error: ToolError = ToolError("nothing is stored there")

        async def call(self, arguments: object) -> object:
            raise self.error

    tool, tape = Failing(), Tape()
    recording = tape_tools({"search": tool}, tape, TapeMode.RECORD)["search"]  # type: ignore[dict-item]
    with pytest.raises(ToolError):
        await recording.call({"query": "a"})
    with pytest.raises(ToolError, match="nothing is stored there"):
        await play_back({"search": tool}, tape)["search"].call({"query": "a"})  # type: ignore[dict-item]
    tool.error = ToolUnavailable("restarting")
    with pytest.raises(ToolUnavailable):
        await recording.call({"query": "b"})
    assert len(tape) == 1


async def test_a_trajectory_is_a_tape_too(tmp_path: Path) -> None:
    record = make_record()
    kit = make_kit(ScriptedModel(answer_sensibly), record)
    report = await run_chain(kit, record, QUESTION)
    tape = tape_of(record.trajectory.turns)
    tape.save(tmp_path / "a")
    Tape.load(tmp_path / "a").save(tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert await reported(play_back(kit.tools, Tape.load(tmp_path / "b"))) == report


def test_a_file_that_is_no_tape_is_refused_with_the_line(tmp_path: Path) -> None:
    file = tmp_path / "x"
    file.write_text('{"call": {"name": "search"}, "result": {}}\nnonsense\n')
    with pytest.raises(InvalidInput, match="line 2: not a recorded call"):
        Tape.load(file)
