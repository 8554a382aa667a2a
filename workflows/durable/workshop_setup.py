"""From settings to a workshop: the one place where a worker's parts are chosen."""

import contextlib
import logging
import sys
from collections.abc import AsyncIterator, Callable
from datetime import timedelta

from app.accounts.service.policy import AccountPolicy
from app.database.engine import connect as connect_database
from app.database.schema import require_schema
from app.domain.errors import SetupError
from app.models.artifacts.opening import open_artifacts
from app.outgoing.mail import mailbox_of
from app.outside_calls.storage import OutsideCallStore
from app.settings import Settings
from retrieval.outside.pages import OutsideReader
from retrieval.outside.services import OutsideServices, open_outside_services
from retrieval.ports import PageReader
from retrieval.service.client import IndexClient
from workflows.agents.brief import BRIEF
from workflows.durable.deployment import compute_build_id
from workflows.durable.mcp_tools import connect_mcp_tools
from workflows.durable.retraining.kubernetes_jobs import Cluster, KubernetesJobs, read_template
from workflows.durable.retraining.processes import LocalProcesses, StepProcesses
from workflows.durable.served_setup import open_served_models
from workflows.durable.silence import SilencePolicy
from workflows.durable.workshop import Workshop
from workflows.tools.toolbox import OutsideTools

DATABASE_CONNECTIONS = 12
log = logging.getLogger(__name__)


@contextlib.asynccontextmanager
async def open_workshop(settings: Settings) -> AsyncIterator[Workshop]:
    """Connect everything that stages need, and close it at the end.

    Raises:
        SetupError: an address is missing or cannot be used, or the database needs a migration.
    """
    if settings.worker_database_url is None or settings.retrieval_url is None:
        raise SetupError("set RUBRICA_WORKER_DATABASE_URL and RUBRICA_RETRIEVAL_URL, or use `rubrica up`, which starts both")
    async with contextlib.AsyncExitStack() as stack:
        url = settings.worker_database_url.get_secret_value()
        database = await connect_database(url, DATABASE_CONNECTIONS, "RUBRICA_WORKER_DATABASE_URL")
        stack.push_async_callback(database.close)
        await require_schema(database)
        index = await stack.enter_async_context(IndexClient(settings.retrieval_url))
        outside = await stack.enter_async_context(open_outside_services(settings, OutsideCallStore(database)))
        mcp = await stack.enter_async_context(connect_mcp_tools(settings.mcp_servers, outside.entrance, settings.mcp_accounts))
        yield Workshop(
            database=database,
            index=index,
            models=await open_served_models(settings, database, stack),
            fallback=BRIEF,
            asks_a_model=settings.default_model is not None,
            reader=_make_reader(outside),
            outside_tools=OutsideTools(outside.web, outside.papers, mcp.reading, mcp.writing),
            judge=settings.claim_judge,
            scientific=settings.scientific_collections,
            mailbox=mailbox_of(settings),
            build=compute_build_id(),
            most=AccountPolicy.of(settings).most,
            silence=_make_silence_policy(settings),
            loop=settings.loop,
            artifacts=open_artifacts(settings.artifacts, settings.artifacts_url),
            train_python=str(settings.train_python or sys.executable),
            step_processes=_open_step_processes(settings),
        )


def _open_step_processes(settings: Settings) -> StepProcesses:
    if settings.loop_job is None:
        return LocalProcesses()
    return KubernetesJobs(Cluster.of_this_pod(), read_template(settings.loop_job))


def _make_silence_policy(settings: Settings) -> SilencePolicy:
    given = settings.llm_give_up_after
    return SilencePolicy(
        tell_after=timedelta(seconds=settings.llm_tell_after),
        give_up_after=None if given is None else timedelta(seconds=given),
    )


def _make_reader(outside: OutsideServices) -> Callable[[PageReader], PageReader]:
    """Return a reader of the index that also reads other pages where something can fetch them."""
    pages = outside.pages
    return lambda stored: OutsideReader(stored, outside.entrance, pages) if pages else stored
