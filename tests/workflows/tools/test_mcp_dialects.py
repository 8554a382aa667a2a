"""Answers and files as other MCP servers and clients write them, over a real pipe."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from retrieval.outside.failure import CallFailed
from retrieval.outside.mcp.configuration import ServerConfiguration, read_servers
from retrieval.outside.mcp.server import McpServer

SERVER = """
import json, os, sys
answers = json.loads(os.environ["ANSWERS"])
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    told = answers.get(asked["method"])
    if asked["method"] == "initialize":
        told = {"protocolVersion": asked["params"]["protocolVersion"], "capabilities": {"tools": {"listChanged": None}},
                "serverInfo": {"name": "s", "version": "1", "title": None}, "instructions": None}
    if told is None:
        reply = {"error": {"code": -32601, "message": "Method not found"}}
    else:
        reply = {"result": told}
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **reply}), flush=True)
"""
TOOLS = [{"name": "weigh", "description": "Weighs.", "inputSchema": {"type": "object", "properties": {"n": {"default": None}}}}]
LOOSE = {"name": "count", "title": None, "description": None, "inputSchema": None, "annotations": None, "outputSchema": None}


def make_server(folder: Path, result: Any, tools: list[Any] = TOOLS) -> McpServer:
    script = folder / "server.py"
    script.write_text(SERVER)
    answers = json.dumps({"tools/list": {"tools": tools, "nextCursor": None}, "tools/call": result})
    return McpServer("s", ServerConfiguration(command=sys.executable, args=(str(script),), env={"ANSWERS": answers}))


async def ask(folder: Path, result: Any, tools: list[Any] = TOOLS) -> str:
    server = make_server(folder, result, tools)
    try:
        return await server.call("weigh", {"n": 1})
    finally:
        await server.close()


WEIGHT = {"type": "text", "text": "It weighs nine stone."}
RESOURCE = {"uri": "file:///scales.md", "mimeType": None, "text": "It weighs nine stone.", "_meta": None}


@pytest.mark.parametrize(
    ("result", "text"),
    [
        ({"content": [], "structuredContent": {"weight": 9, "unit": None}}, '{"weight": 9, "unit": null}'),
        ({"structuredContent": {"weight": 9}}, '{"weight": 9}'),
        ({"content": None, "structuredContent": [9, "stone"], "isError": None}, '[9, "stone"]'),
        (
            {"content": [{"type": "text", "text": ""}], "structuredContent": {"weight": "neun, \u00fc"}},
            '{"weight": "neun, \u00fc"}',
        ),
        ({"content": [WEIGHT], "structuredContent": {"weight": 9}}, "It weighs nine stone."),
        ({"content": [{**WEIGHT, "annotations": {"audience": None}, "_meta": None}], "_meta": None}, "It weighs nine stone."),
        ({"content": [{"type": "resource", "resource": RESOURCE, "annotations": None}]}, "It weighs nine stone."),
        ({"content": [None, WEIGHT, {"type": "hologram", "light": 1}]}, "It weighs nine stone.\n(hologram left out)"),
        ({"content": [{"type": "text", "text": None}, WEIGHT]}, "(text left out)\nIt weighs nine stone."),
        ({"content": "It weighs nine stone."}, "It weighs nine stone."),
        (
            {"content": [{"type": "resource_link", "uri": "file:///a.md", "name": "Scales", "title": None}]},
            "(Scales: file:///a.md)",
        ),
    ],
)
async def test_the_text_of_an_answer_is_read_however_it_is_written(tmp_path: Path, result: Any, text: str) -> None:
    assert (await ask(tmp_path, result)).removeprefix("\n") == text


async def test_an_answer_that_breaks_its_own_schema_is_an_answer(tmp_path: Path) -> None:
    promised = [{**TOOLS[0], "outputSchema": {"type": "object", "required": ["weight"]}}]
    assert await ask(tmp_path, {"content": [WEIGHT]}, promised) == "It weighs nine stone."


async def test_an_error_of_the_tool_stays_one(tmp_path: Path) -> None:
    with pytest.raises(CallFailed, match="no scales"):
        await ask(tmp_path, {"content": [{"type": "text", "text": "no scales", "annotations": None}], "isError": True})


async def test_a_tool_whose_description_cannot_be_read_costs_no_other(tmp_path: Path) -> None:
    server = make_server(tmp_path, {}, [None, {"description": "no name"}, LOOSE, *TOOLS])
    try:
        offers = await server.list_offers()
    finally:
        await server.close()
    assert [(offer.name, offer.description) for offer in offers] == [("count", "count"), ("weigh", "Weighs.")]
    assert offers[1].parameters["properties"] == {"n": {"default": None}}


def test_a_file_of_another_client_is_read_and_what_has_no_effect_is_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "mcp.json"
    servers = {
        "local": {
            "type": "stdio",
            "command": "scales",
            "args": None,
            "env": {"PORT": 8080, "LOUD": True, "KEY": None},
            "timeout": 9,
        },
        "hosted": {"type": "streamable-http", "url": "https://scales.example/mcp", "headers": None, "alwaysAllow": ["weigh"]},
        "old": {"type": "SSE", "serverUrl": "https://scales.example/sse", "disabled": False},
        "off": {"disabled": True, "command": 7},
        "gone": {"enabled": False},
    }
    file.write_text(json.dumps({"$schema": "x", "inputs": [], "mcpServers": servers}))
    read = read_servers(file)
    assert list(read) == ["local", "hosted", "old"]
    assert read["local"].env == {"PORT": "8080", "LOUD": "true"}
    assert (read["hosted"].url, read["old"].url) == ("https://scales.example/mcp", "https://scales.example/sse")
    assert "of the MCP server local these fields have no effect: timeout" in caplog.text
    assert "alwaysAllow" in caplog.text
