"""The official MCP conformance, against our client of other people's servers."""

import asyncio
import os
import sys
import tempfile
from pathlib import Path

from bench.conformance.mcp_server import PACKAGE, run_scenario
from bench.conformance.outcome import Outcome
from bench.conformance.packages import find_node, find_package
from bench.stack import ROOT
from retrieval.outside.mcp.configuration import ServerConfiguration
from retrieval.outside.mcp.server import McpServer

SCENARIOS = ("initialize", "tools_call", "elicitation-sep1034-client-defaults", "sse-retry")
OUT = {"auth/*": "a server that asks for OAuth gets a fixed token from `headers`: agents work where no person can sign in"}
# What a scenario's tools are called with, where the schema leaves a choice.
ARGUMENTS = {"add_numbers": {"a": 5, "b": 3}}


def check_mcp_client(folder: Path) -> Outcome:
    """Run the scenarios of a client without sign-in."""
    node, suite = find_node(folder), find_package(folder, PACKAGE) / "dist" / "index.js"
    program = f"{sys.executable} -m bench.conformance.mcp_client"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with tempfile.TemporaryDirectory() as place:
        command = [node, str(suite), "client", "--command", program, "--timeout", "60000"]
        parts = [run_scenario(command, name, Path(place), environment) for name in SCENARIOS]
    failed = {name: wrong for part in parts for name, wrong in part.failed.items()}
    return Outcome(sum(part.passed for part in parts), OUT, failed)


async def call_every_tool(url: str) -> None:
    """Connect as a worker does, list the tools and call each once: the program that the suite starts."""
    server = McpServer("suite", ServerConfiguration(url=url))
    try:
        for offer in await server.list_offers():
            await server.call(offer.name, ARGUMENTS.get(offer.name, {}))
    finally:
        await server.close()


if __name__ == "__main__":
    asyncio.run(call_every_tool(sys.argv[1]))
