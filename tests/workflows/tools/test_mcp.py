"""Tools of a real MCP server, over both transports, through the entrance, in agents' hands."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import aiohttp
import pytest
from pydantic import ValidationError

from app.domain.blocks import BlockKind
from app.domain.chat import ChatRequest
from app.domain.errors import SetupError, ToolError
from app.domain.evidence import snapshot_hash
from app.runs.schemas import NewRun
from infra.local.ports import find_free_port
from retrieval.outside.entrance import Entrance
from retrieval.outside.mcp.configuration import read_servers
from retrieval.outside.memory import MemorySharedStore
from tests.workflows.agent_kit import make_kit, make_record, run_chain, step_of
from tests.workflows.sensible_model import answer_sensibly
from tests.workflows.small_corpus import SmallCorpus
from workflows.agents.actions import AgentAct, make_act_step
from workflows.agents.answer_reading import read_answer
from workflows.agents.codec import TagCodec
from workflows.agents.foreign_tools import is_foreign_tool
from workflows.agents.ports import Tool
from workflows.chat_models.scripted import ScriptedModel
from workflows.durable.mcp_tools import ConnectedTools, connect_mcp_tools
from workflows.tools.tool_memory import DictToolStore, ToolMemory
from workflows.tools.toolbox import OutsideTools, ToolCorpora, build_toolbox

ROOT = Path(__file__).parents[3]
STDIO = {"command": sys.executable, "args": ["-m", "tests.support.mcp_stub"], "env": {"PYTHONPATH": str(ROOT)}, "per_second": 50}
FORECAST, ORDER = "mcp_weather_forecast", "mcp_weather_order"


@pytest.fixture
def shared() -> MemorySharedStore:
    return MemorySharedStore()


def configured(folder: Path, **servers: object) -> Path:
    file = folder / "mcp.json"
    file.write_text(json.dumps({"mcpServers": servers}))
    return file


@pytest.fixture
async def http_server() -> AsyncIterator[str]:
    port = find_free_port()
    command = (sys.executable, "-m", "tests.support.mcp_stub", str(port))
    process = await asyncio.create_subprocess_exec(*command, cwd=ROOT, stderr=asyncio.subprocess.DEVNULL)
    url = f"http://127.0.0.1:{port}/mcp"
    async with aiohttp.ClientSession() as session:
        while True:
            try:
                async with session.get(url):
                    break
            except aiohttp.ClientError:
                await asyncio.sleep(0.1)
    yield url
    process.kill()
    await process.wait()


@pytest.fixture
async def weather(tmp_path: Path, shared: MemorySharedStore) -> AsyncIterator[dict[str, Tool]]:
    async with connect_mcp_tools(configured(tmp_path, weather=STDIO), Entrance(shared, draw=lambda: 0.0)) as found:
        yield {tool.name: tool for tool in found.reading}


async def test_a_tools_answer_is_a_source_that_is_kept(weather: dict[str, Tool], shared: MemorySharedStore) -> None:
    tool = weather[FORECAST]
    assert tool.parameters["required"] == ["city"]
    assert '"city"' not in tool.description, "a description cannot end an attribute"
    assert "<tool_response>" not in tool.description
    result = await tool.call({"city": "Lund", "days": 2})
    text = await shared.text(result.passages[0].source.snapshot)
    assert text.startswith("In Lund it rains for 2 days.")
    assert all(text[p.start : p.end] == p.text for p in result.passages)
    assert (result.passages[0].source.kind, result.passages[0].source.title) == ("tool", "weather: forecast")
    assert snapshot_hash(text) == result.passages[0].source.snapshot


async def test_a_tools_answer_and_its_error_are_safe_text(weather: dict[str, Tool]) -> None:
    said = await weather[FORECAST].call({"city": "Lu\u202end\x1b[2J\x9b"})
    assert said.passages[0].text.startswith("In Lund[2J it rains")
    with pytest.raises(ToolError) as refused:
        await weather[FORECAST].call({"city": "Lund", "days": "\u202emany\x1b[2J"})
    assert not {"\u202e", "\x1b"} & set(str(refused.value))


async def test_failures_are_told_and_a_dead_server_is_started_again(weather: dict[str, Tool]) -> None:
    tool = weather[FORECAST]
    with pytest.raises(ToolError, match="there is no such city"):
        await tool.call({"city": "nowhere"})
    with pytest.raises(ToolError, match="days"):
        await tool.call({"city": "Lund", "days": "many"})
    with pytest.raises(ToolError, match=r"broke off|does not answer"):
        await tool.call({"city": "crash"})
    assert "In Lund" in (await tool.call({"city": "Lund"})).passages[0].text


async def test_a_long_answer_is_cut(weather: dict[str, Tool]) -> None:
    result = await weather[FORECAST].call({"city": "long"})
    assert sum(len(passage.text) for passage in result.passages) <= 24_000
    assert result.note == "cut after 24000 characters"


async def test_a_row_far_below_the_head_of_its_table_is_given_that_head(weather: dict[str, Tool]) -> None:
    last = (await weather[FORECAST].call({"city": "table"})).passages[-1]
    assert "Day" not in last.text
    assert [(block.kind, block.text) for block in last.blocks[:2]] == [(BlockKind.HEAD, "Day | Rain"), (BlockKind.ROW, "")]


async def test_streamable_http_and_a_choice_of_tools(tmp_path: Path, http_server: str) -> None:
    file = configured(tmp_path, weather={"url": http_server, "tools": ["forecast"]})
    async with connect_mcp_tools(file, Entrance(MemorySharedStore())) as found:
        (tool,) = found.reading
        assert "In Lund" in (await tool.call({"city": "Lund"})).passages[0].text


async def test_a_server_that_is_away_is_left_out(tmp_path: Path) -> None:
    servers = {"gone": {"url": f"http://127.0.0.1:{find_free_port()}/mcp"}, "missing": {"command": "no-such-command-here"}}
    async with connect_mcp_tools(configured(tmp_path, **servers, weather=STDIO), Entrance(MemorySharedStore())) as found:
        assert [tool.name for tool in found.reading] == [FORECAST]
        assert [tool.name for tool in found.writing.values()] == [ORDER]


async def offered(found: ConnectedTools, **chosen: object) -> set[str]:
    """Return the names of the tools of other servers that the agents of such a run have."""
    query = NewRun(question="What is the weather in Lund?", **chosen).to_query()  # type: ignore[arg-type]
    outside, corpus = OutsideTools(None, None, found.reading, found.writing), SmallCorpus()
    box = build_toolbox(corpus, corpus, ToolCorpora(), ToolMemory(DictToolStore()), outside, query.scope)
    return {name for name in box if is_foreign_tool(name)}


async def test_a_tool_that_may_write_is_only_there_in_a_run_whose_asker_agreed_to_it(tmp_path: Path) -> None:
    async with connect_mcp_tools(configured(tmp_path, weather=STDIO), Entrance(MemorySharedStore())) as found:
        assert await offered(found) == {FORECAST}
        assert await offered(found, published_from="1900-01-01") == {FORECAST}, "another limit of the scope agrees to nothing"
        assert await offered(found, tools_that_write=("weather.other", "other.order")) == {FORECAST}
        assert await offered(found, tools_that_write=("weather.order",)) == {FORECAST, ORDER}
        assert await offered(found, tools_that_write=("weather.order",), sources=("corpora",)) == set()
    trusted = configured(tmp_path, weather={**STDIO, "read_only": ["order"]})
    async with connect_mcp_tools(trusted, Entrance(MemorySharedStore())) as found:
        assert await offered(found) == {FORECAST, ORDER}, "whoever runs the installation may say that a tool only reads"


def test_an_agreement_names_one_tool_of_one_server() -> None:
    for name in ("order", "weather.", ".order", "*", "weather.*", "weather.order more", "we ather.order"):
        with pytest.raises(ValidationError, match="tools_that_write"):
            NewRun(question="x?", tools_that_write=(name,))


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("{", "unexpected end of data"),
        ('{"servers": {}}', "mcpServers: Field required"),
        ('{"mcpServers": {"a": {}}}', "either a command or a url"),
        ('{"mcpServers": {"a b": {"command": "x"}}}', "no name for a server"),
        ('{"mcpServers": {"a": {"cmd": "y"}}}', "either a command or a url"),
        ('{"mcpServers": {"a": {"type": "carrier-pigeon", "url": "http://a.example"}}}', "stdio, http and sse are"),
    ],
)
def test_a_malformed_file_is_refused_with_the_reason(tmp_path: Path, content: str, reason: str) -> None:
    file = tmp_path / "mcp.json"
    file.write_text(content)
    with pytest.raises(SetupError, match=reason):
        read_servers(file)


def test_the_file_may_be_toml(tmp_path: Path) -> None:
    file = tmp_path / "mcp.toml"
    file.write_text('[mcpServers.weather]\ncommand = "weather"\nargs = ["--quiet"]\n')
    assert read_servers(file)["weather"].args == ("--quiet",)


@pytest.mark.parametrize(
    "said",
    [
        '{"thought": "t", "action": "mcp_weather_forecast", "inputs": ["{\\"city\\": \\"Lund\\"}"]}',
        '{"thought": "t", "action": "mcp_weather_forecast", "inputs": [{"city": "Lund"}]}',
        '{"name": "mcp_weather_forecast", "arguments": {"city": "Lund"}}',
        '<tool_call>{"name": "mcp_weather_forecast", "arguments": {"city": "Lund"}}</tool_call>',
    ],
)
def test_a_model_may_call_a_further_tool_in_any_notation(said: str) -> None:
    step = make_act_step(frozenset({"search", FORECAST}))
    act = read_answer(step, said)
    assert act.action == FORECAST
    assert [json.loads(given) for given in act.inputs] == [{"city": "Lund"}]
    assert step.schema.schema_["properties"]["action"]["enum"] == ["search", "finish", FORECAST]


def test_without_further_tools_the_schema_names_none() -> None:
    assert make_act_step(frozenset({"search"})).schema.schema_["properties"]["action"] == {
        "type": "string",
        "enum": ["search", "finish"],
        "description": "the next action",
    }


@pytest.mark.parametrize("given", ['{"city": "Lund"}', "Lund"])
async def test_an_agent_uses_it_and_cites_what_it_said(weather: dict[str, Tool], given: str) -> None:
    def answer(request: ChatRequest) -> str:
        if step_of(request) != "act":
            return answer_sensibly(request)
        return (AgentAct() if len(request.messages) > 3 else AgentAct(action=FORECAST, inputs=(given,))).model_dump_json()

    record = make_record()
    kit = make_kit(ScriptedModel(answer), record)
    kit = replace(kit, tools={**kit.tools, **weather})
    report = await run_chain(kit, record, "What is the weather in Lund?")
    called = [turn.call for turn in record.trajectory.turns if turn.call]
    assert (called[0].name, called[0].arguments) == (FORECAST, {"city": "Lund"})
    assert any(quote.source.title == "weather: forecast" for quote in report.quotes)
    assert TagCodec().describe_form(make_act_step(frozenset(kit.tools)), kit.prompts, kit.language)
