"""A worker's equipment from settings: services outside and MCP tools are there when they are configured, and work."""

import json
import sys
from datetime import timedelta
from pathlib import Path

import asyncpg
import pytest

from app.domain.errors import ToolError
from app.settings import read_settings
from tests.support.outside_stub import answer_with, refuse_with, serve_outside
from workflows.agents.codec import SchemaCodec, TagCodec
from workflows.durable.silence import SilencePolicy
from workflows.durable.workshop_setup import open_workshop

ROOT = Path(__file__).parents[3]
HOLDS_NOTHING = refuse_with(404, "no document of this address")
PAPER = {"DOI": "10.1000/a", "title": ["On duties"], "abstract": "<p>Duties rose.</p>", "type": "journal-article"}


async def test_without_settings_there_is_nothing_beyond_the_index(own_postgres_url: str) -> None:
    given = {"RUBRICA_WORKER_DATABASE_URL": own_postgres_url, "RUBRICA_RETRIEVAL_URL": "http://127.0.0.1:9"}
    async with open_workshop(read_settings(given)) as shop:
        assert (shop.outside_tools.web, shop.outside_tools.papers, list(shop.outside_tools.tools)) == (None, None, [])
        assert shop.reader(shop.index) is shop.index


async def test_how_long_a_model_may_be_silent_is_a_setting(own_postgres_url: str) -> None:
    given = {"RUBRICA_WORKER_DATABASE_URL": own_postgres_url, "RUBRICA_RETRIEVAL_URL": "http://127.0.0.1:9"}
    at_home = given | {"RUBRICA_LLM_BASE_URL": "http://localhost:9/v1", "RUBRICA_LLM_MODEL": "toy"}
    async with open_workshop(read_settings(at_home)) as shop:
        assert shop.silence_of("toy") == SilencePolicy(timedelta(seconds=20), None, on_this_machine=True)
    far = at_home | {"RUBRICA_LLM_BASE_URL": "https://models.example/v1"}
    waits = {"RUBRICA_LLM_TELL_AFTER": "5", "RUBRICA_LLM_GIVE_UP_AFTER": "90"}
    async with open_workshop(read_settings(far | waits)) as shop:
        assert shop.silence_of("toy") == SilencePolicy(timedelta(seconds=5), timedelta(seconds=90))


async def test_configured_services_are_used_and_counted(own_postgres_url: str, tmp_path: Path) -> None:
    found = {"message": {"items": [PAPER]}}
    page = {"data": {"url": "https://doi.org/10.1000/a", "title": "On duties", "content": "The whole paper."}}
    async with (
        serve_outside(answer_with(found)) as crossref,
        serve_outside(answer_with(page)) as jina,
        serve_outside(HOLDS_NOTHING) as index,
    ):
        (tmp_path / "providers.toml").write_text(f'[crossref]\nurl = "{crossref.url}"\n\n[jina]\nurl = "{jina.url}"\n')
        weather = {"command": sys.executable, "args": ["-m", "tests.support.mcp_stub"], "env": {"PYTHONPATH": str(ROOT)}}
        (tmp_path / "mcp.json").write_text(json.dumps({"mcpServers": {"weather": weather}}))
        given = {
            "RUBRICA_WORKER_DATABASE_URL": own_postgres_url,
            "RUBRICA_RETRIEVAL_URL": index.url,
            "RUBRICA_CONTACT_EMAIL": "me@example.org",
            "RUBRICA_JINA_API_KEY": "k3y",
            "RUBRICA_PROVIDERS_FILE": str(tmp_path / "providers.toml"),
            "RUBRICA_MCP_SERVERS": str(tmp_path / "mcp.json"),
        }
        async with open_workshop(read_settings(given)) as shop:
            assert shop.outside_tools.papers is not None
            passages, note = await shop.outside_tools.papers.search("10.1000/a", 5)
            assert (passages[0].text, note) == ("Duties rose.", "papers: crossref")
            assert (await shop.reader(shop.index).read(passages[0].source.url)).text == "The whole paper."
            forecast = next(tool for tool in shop.outside_tools.tools if tool.name == "mcp_weather_forecast")
            assert (await forecast.call({"city": "Lund"})).passages
            assert await shop.outside_calls.text(passages[0].source.snapshot) == "Duties rose."
    connection = await asyncpg.connect(own_postgres_url)
    rows = await connection.fetch("SELECT tool, outcome, n FROM outside_counts")
    await connection.close()
    counted = {(row["tool"], row["outcome"]): row["n"] for row in rows}
    assert counted == {("crossref", "answered"): 1, ("page", "answered"): 1, ("mcp:weather/forecast", "answered"): 1}


async def test_pages_that_searches_find_are_read_by_our_own_reader_which_goes_nowhere_inside(own_postgres_url: str) -> None:
    async with serve_outside(answer_with({"secret": "of this machine"})) as inside, serve_outside(HOLDS_NOTHING) as index:
        given = {
            "RUBRICA_WORKER_DATABASE_URL": own_postgres_url,
            "RUBRICA_RETRIEVAL_URL": index.url,
            "RUBRICA_CONTACT_EMAIL": "me@example.org",
        }
        async with open_workshop(read_settings(given)) as shop:
            with pytest.raises(ToolError, match="page: refused"):
                await shop.reader(shop.index).read(f"{inside.url}/")
        assert inside.seen == []


async def test_the_context_shortens_prompts_in_either_notation(own_postgres_url: str) -> None:
    given = {
        "RUBRICA_WORKER_DATABASE_URL": own_postgres_url,
        "RUBRICA_RETRIEVAL_URL": "http://127.0.0.1:9",
        "RUBRICA_LLM_CONTEXT": "8192",
    }
    for codec, expected in (("tags", TagCodec(short=True)), ("schema", SchemaCodec(short=True))):
        async with open_workshop(read_settings(given | {"RUBRICA_LLM_CODEC": codec})) as shop:
            assert shop.models.main.codec == expected
