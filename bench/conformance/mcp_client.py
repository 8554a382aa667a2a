"""The official MCP conformance, against our client of other people's servers."""

import asyncio
import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

import aiohttp
import orjson

from app.outgoing.way_out import is_on_this_machine
from bench.conformance.mcp_server import PACKAGE, run_scenario
from bench.conformance.outcome import Outcome
from bench.conformance.packages import find_node, find_package
from bench.stack import ROOT
from retrieval.outside.failure import CallFailed, Failure
from retrieval.outside.mcp.accounts import AccountFile
from retrieval.outside.mcp.configuration import ServerConfiguration
from retrieval.outside.mcp.connecting import connect_account
from retrieval.outside.mcp.server import McpServer

SCENARIOS = ("initialize", "tools_call", "elicitation-sep1034-client-defaults", "sse-retry")
SIGN_IN = "auth/"
SIGN_INS = (
    *("metadata-default", "metadata-var1", "metadata-var2", "metadata-var3", "resource-mismatch", "pre-registration"),
    *("scope-from-www-authenticate", "scope-from-scopes-supported", "scope-omitted-when-undefined"),
    *("scope-step-up", "scope-retry-limit", "offline-access-scope", "offline-access-not-supported"),
    *("token-endpoint-auth-basic", "token-endpoint-auth-post", "token-endpoint-auth-none", "client-credentials-basic"),
    "2025-03-26-oauth-endpoint-fallback",
)
OUT = {
    "auth/2025-03-26-oauth-metadata-backcompat": "its server names another issuer than the one asked: RFC 8414 (3.3) refuses it",
    "auth/basic-cimd": "an installation has no public page that describes it as a client: it registers itself there",
    "auth/client-credentials-jwt": "keys that sign are not supported",
    "auth/cross-app-access-complete-flow": "another company's tokens are not supported",
}
# What a scenario's tools are called with, where the schema leaves a choice.
ARGUMENTS = {"add_numbers": {"a": 5, "b": 3}}


def check_mcp_client(folder: Path) -> Outcome:
    """Run the scenarios of a client."""
    node, suite = find_node(folder), find_package(folder, PACKAGE) / "dist" / "index.js"
    program = f"{sys.executable} -m bench.conformance.mcp_client"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    names = (*SCENARIOS, *(f"{SIGN_IN}{name}" for name in SIGN_INS))
    with tempfile.TemporaryDirectory() as place:
        command = [node, str(suite), "client", "--command", program, "--timeout", "60000"]
        parts = [run_scenario(command, name, Path(place), environment) for name in names]
    failed = {name: wrong for part in parts for name, wrong in part.failed.items()}
    return Outcome(sum(part.passed for part in parts), OUT, failed)


async def use_server(url: str, scenario: str, given: Mapping[str, str]) -> None:
    """Do what an operator and then a worker do with a server: the program that the suite starts."""
    with tempfile.TemporaryDirectory() as folder:
        file = AccountFile(Path(folder), "suite")
        configuration = await _configure(url, scenario, given)
        by_person = scenario.startswith(SIGN_IN) and not configuration.oauth.without_person
        if by_person:
            await connect_account(configuration, file, _browse, vouch=is_on_this_machine)
        try:
            await _call_every_tool(configuration, Path(folder))
        except CallFailed as failed:
            if not by_person or failed.failure is not Failure.DENIED:
                raise
            await connect_account(configuration, file, _browse, vouch=is_on_this_machine)
            await _call_every_tool(configuration, Path(folder))


async def _configure(url: str, scenario: str, given: Mapping[str, str]) -> ServerConfiguration:
    """Write what an operator writes: the issuer of a secret is known to the person who got it there."""
    if "client_secret" not in given:
        return ServerConfiguration(url=url)
    parts = urlsplit(url)
    place = f"{parts.scheme}://{parts.netloc}/.well-known/oauth-protected-resource{parts.path}"
    async with aiohttp.ClientSession() as session, session.get(place) as answer:
        issuer = (await answer.json())["authorization_servers"][0]
    grant = "client_credentials" if "client-credentials" in scenario else "authorization_code"
    return ServerConfiguration.model_validate({"url": url, "oauth": {**given, "grant": grant, "issuer": issuer}})


async def _browse(address: str) -> None:
    async with aiohttp.ClientSession() as session, session.get(address) as answer:
        answer.raise_for_status()


async def _call_every_tool(configuration: ServerConfiguration, accounts: Path) -> None:
    """Connect as a worker does, list the tools and call each once."""
    server = McpServer("suite", configuration, accounts, is_on_this_machine)
    try:
        for offer in await server.list_offers():
            await server.call(offer.name, ARGUMENTS.get(offer.name, {}))
    finally:
        await server.close()


if __name__ == "__main__":
    about = orjson.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT", "{}"))
    asyncio.run(use_server(sys.argv[1], os.environ.get("MCP_CONFORMANCE_SCENARIO", ""), about))
