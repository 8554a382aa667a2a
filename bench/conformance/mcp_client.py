"""The official MCP conformance, against our client of other people's servers."""

import asyncio
import json
import os
import sys
import tempfile
from pathlib import Path

import aiohttp

from app.outgoing.way_out import is_on_this_machine
from bench.conformance.mcp_server import PACKAGE, run_scenario
from bench.conformance.outcome import Outcome
from bench.conformance.packages import find_node, find_package
from bench.stack import ROOT
from retrieval.outside.mcp.accounts import AccountFile
from retrieval.outside.mcp.configuration import ServerConfiguration, SignIn
from retrieval.outside.mcp.connecting import connect_account
from retrieval.outside.mcp.server import McpServer

SCENARIOS = ("initialize", "tools_call", "elicitation-sep1034-client-defaults", "sse-retry")
SIGN_INS = (
    *(f"auth/metadata-{kind}" for kind in ("default", "var1", "var2", "var3")),
    *(
        f"auth/scope-{kind}"
        for kind in ("from-www-authenticate", "from-scopes-supported", "omitted-when-undefined", "step-up", "retry-limit")
    ),
    *(f"auth/token-endpoint-auth-{kind}" for kind in ("basic", "post", "none")),
    *("auth/pre-registration", "auth/client-credentials-basic", "auth/resource-mismatch", "auth/basic-cimd"),
    *("auth/2025-03-26-oauth-metadata-backcompat", "auth/2025-03-26-oauth-endpoint-fallback"),
    *("auth/offline-access-scope", "auth/offline-access-not-supported"),
)
OUT: dict[str, str] = {}
# What a scenario's tools are called with, where the schema leaves a choice.
ARGUMENTS = {"add_numbers": {"a": 5, "b": 3}}


def check_mcp_client(folder: Path) -> Outcome:
    """Run the scenarios of a client, with and without sign-in."""
    node, suite = find_node(folder), find_package(folder, PACKAGE) / "dist" / "index.js"
    program = f"{sys.executable} -m bench.conformance.mcp_client"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with tempfile.TemporaryDirectory() as place:
        command = [node, str(suite), "client", "--command", program, "--timeout", "60000"]
        parts = [run_scenario(command, name, Path(place), environment) for name in (*SCENARIOS, *SIGN_INS)]
    failed = {name: wrong for part in parts for name, wrong in part.failed.items()}
    return Outcome(sum(part.passed for part in parts), OUT, failed)


async def call_every_tool(url: str) -> None:
    """Connect as a worker does, list the tools and call each once: the program that the suite starts.

    Where the server asks for a sign-in, a person connects it first.
    """
    configuration = ServerConfiguration(url=url, oauth=_find_client())
    with tempfile.TemporaryDirectory() as accounts:
        if not configuration.oauth.without_person:
            await connect_account(configuration, AccountFile(Path(accounts), "suite"), _browse, vouch=is_on_this_machine)
        server = McpServer("suite", configuration, Path(accounts), is_on_this_machine)
        try:
            for offer in await server.list_offers():
                await server.call(offer.name, ARGUMENTS.get(offer.name, {}))
        finally:
            await server.close()


def _find_client() -> SignIn:
    """Return what the suite's authorisation server knows us by, if it made us known there."""
    known = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
    print(known, file=sys.stderr)
    return SignIn()


async def _browse(address: str) -> None:
    """Do what a browser does, by a person who agrees."""
    async with aiohttp.ClientSession() as session, session.get(address) as answer:
        answer.raise_for_status()


if __name__ == "__main__":
    asyncio.run(call_every_tool(sys.argv[1]))
