"""Share a version of a report by a link that ends."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import NamedTuple
from uuid import UUID, uuid4

import orjson

from app.accounts.nouns.token import digest_token
from app.audit import storage as audit
from app.audit.storage import Action
from app.database.engine import Database, Executor
from app.domain.errors import Conflict, NotFound
from app.reports.rendering.withholding import withhold_evidence
from app.runs.service.runs import Runs
from app.runs.storage import runs
from app.sharing import storage as shares
from app.sharing.nouns import Share, SharedReport, new_link_token

MAX_LINKS = 100
UNKNOWN_LINK = "this link is not known here, or has ended; ask its sender for a new one"


class NewLink(NamedTuple):
    """A link with its token, shown once."""

    share: Share
    token: str


class Sharing:
    """The use cases around links. `trusted` reads for people without an account: it looks only for a token's hash.

    The audit log records links that are made and ended.

    Raises:
        NotFound: no such run, version or link; an ended link has the same message as one that never existed.
        Unavailable: the database does not answer.
    """

    def __init__(self, database: Database, trusted: Executor, runs: Runs) -> None:
        self._database = database
        self._trusted = trusted
        self._runs = runs

    async def share(self, run_id: UUID, days: int, version: int | None) -> NewLink:
        """Make a link to this version, by default the newest, for so many days.

        Raises:
            Conflict: the run has too many links.
        """
        number = (await self._runs.get_report(run_id, version)).version
        if len(await shares.list_links(self._database, run_id, MAX_LINKS)) >= MAX_LINKS:
            raise Conflict(f"run {run_id} has been shared {MAX_LINKS} times; use one of its links")
        token, until = new_link_token(), datetime.now(UTC) + timedelta(days=days)
        async with self._database.acquire() as connection:
            made = await shares.add(connection, uuid4(), run_id, number, digest_token(token), until)
            told = {"version": str(number), "until": f"{until:%Y-%m-%d}"}
            await audit.record(connection, Action.REPORT_SHARED, run_id, told)
        return NewLink(made, token)

    async def list_links(self, run_id: UUID) -> Sequence[Share]:
        """List the run's links, newest first."""
        await self._runs.get(run_id)
        return await shares.list_links(self._database, run_id, MAX_LINKS)

    async def revoke(self, run_id: UUID, share_id: UUID) -> None:
        """End a link now."""
        async with self._database.acquire() as connection:
            if not await shares.revoke(connection, run_id, share_id):
                raise NotFound(f"run {run_id} has no link {share_id}")
            await audit.record(connection, Action.SHARE_ENDED, run_id)

    async def read_report(self, token: str) -> SharedReport:
        """Return what a link shows: of collections, what the report quotes."""
        found = await shares.open_link(self._trusted, digest_token(token))
        if found is None:
            raise NotFound(UNKNOWN_LINK)
        report = found.report
        if not report.readable:
            run = await runs.get(self._trusted, found.run_id)
            if run is None:
                raise NotFound(UNKNOWN_LINK)
            report = await asyncio.to_thread(withhold_evidence, report, run)
        title = orjson.loads(report.report)["title"]
        return SharedReport(title=title, html=report.html, markdown=report.markdown, expires_at=found.expires_at)
