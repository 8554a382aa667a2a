"""Every route, asked by everybody about a run on a private collection: see bench/private_matrix.py."""

import asyncpg

from app.exports.nouns import ExportFormat
from app.http.asgi import build_routes
from app.http.services import Services
from bench.private_house import seed_private_house
from bench.private_matrix import measure_private_matrix
from tests.app.served_api import serve_api

# Each of these takes a process, and is made from the same report as the others; the bench makes them too.
TYPESET = {ExportFormat.PDF, ExportFormat.DOCX, ExportFormat.LATEX}


async def test_who_may_not_use_a_collection_reads_what_reports_quote_of_it_and_nothing_else(
    services: Services, pool: asyncpg.Pool
) -> None:
    house = await seed_private_house(services, pool)
    async with serve_api(services) as client:
        made = measure_private_matrix(client.address, build_routes(services), house, pool, set(ExportFormat) - TYPESET)
        checks, leaks, missing = await made
    assert (leaks, missing) == ([], [])
    assert checks >= 1_500
