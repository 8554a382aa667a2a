"""Do the work of `rubrica runs replay`: ask a stored run's writer or planner again, and write both outcomes side by side."""

from collections import defaultdict
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

from pydantic import SecretStr, ValidationError

from app.accounts.storage import organisations
from app.asking.storage import drafts
from app.database.role_names import WORKER_ROLE
from app.database.tenancy import Tenant, TenantDatabase, act_for
from app.domain.budget import Usage
from app.domain.contract import Draft, DraftKind
from app.domain.errors import InvalidInput, SetupError
from app.domain.run import EventType
from app.domain.writer import WriterSettings
from app.quotas.service import Limits
from app.settings import PREFIX, Settings
from infra.cli.connection import Connection, open_connection
from infra.cli.execute import say
from infra.cli.progress import as_one_line
from infra.cli.replay_tables import compare_plans, compare_reports
from infra.cli.run_commands import find_run
from infra.cli.run_options import ReplayStep
from infra.cli.written_files import locate_file, write_whole
from infra.local.home import Home
from infra.local.postgres import DATABASE, read_running_url
from rubrica_client import runs
from workflows.durable.asking_again import Replay
from workflows.durable.stored_run import load_stored_run
from workflows.durable.workshop import Workshop
from workflows.durable.workshop_setup import open_workshop
from workflows.systems.local_record import LocalRecord


def read_wish(model: str | None, prompts: list[str] | None) -> WriterSettings:
    """Return what the options of the command ask for.

    Raises:
        InvalidInput: nothing would differ, or a name or version has no usable form.
    """
    pairs = [said.partition("=") for said in prompts or ()]
    if model is None and not pairs:
        raise InvalidInput("nothing would differ; name another --model, or --prompt NAME=VERSION")
    try:
        return WriterSettings(model=model, prompts={name: version for name, _, version in pairs})
    except ValidationError as error:
        raise InvalidInput("name a model as its server does, and a prompt as in --prompt single_pass=v2") from error


async def replay(settings: Settings, run_id: str, step: ReplayStep, wish: WriterSettings, out: Path) -> int:
    """Ask the writer or the planner of a run again, and print how the outcomes differ."""
    async with open_connection(settings, say) as connection:
        run = await find_run(connection.api, run_id)
        await connection.api.send(runs.tape(run.id))  # refused to whoever may not read what the run found
        async with open_workshop(await _name_parts(settings, connection)) as shop, _bill_operator(settings, shop) as record:
            asked = Replay(shop, await load_stored_run(shop.database, UUID(run.id)), record)
            files = await (compare_reports if step is ReplayStep.WRITER else compare_plans)(asked, wish)
    for name, text in files.items():
        _write(locate_file(out, run.id, name), text)
    print(files["comparison.md"])
    print(out / run.id)
    return 0


async def _name_parts(settings: Settings, connection: Connection) -> Settings:
    """Return the settings with the database and the index of the stack that the connection found or started.

    Raises:
        SetupError: the API is elsewhere, and its database is not named.
    """
    if settings.worker_database_url is not None and settings.retrieval_url is not None:
        return settings
    if settings.api_url is not None:
        raise SetupError(f"set {PREFIX}WORKER_DATABASE_URL and {PREFIX}RETRIEVAL_URL: a replay reads the deployment's database")
    if connection.stack is not None:
        await connection.stack.complete()
    state = connection.stack.state if connection.stack else None
    url = settings.worker_database_url or SecretStr(read_running_url(Home(settings.home).postgres, DATABASE, WORKER_ROLE))
    retrieval = settings.retrieval_url or (state.retrieval if state else connection.retrieval)
    return settings.model_copy(update={"worker_database_url": url, "retrieval_url": retrieval})


@asynccontextmanager
async def _bill_operator(settings: Settings, shop: Workshop) -> AsyncIterator[LocalRecord]:
    """Open a record; what is asked of models is billed to the operator's organisation at the end, also where the work fails.

    Raises:
        SetupError: the deployment has no such organisation.
        TooManyRequests: it may use no more this month.
    """
    tenants, record = TenantDatabase(shop.database), LocalRecord("replay", watch=_say_event)
    if not await organisations.exists(shop.database, settings.operator):
        raise SetupError(f"{PREFIX}OPERATOR names no organisation of this deployment; a replay is billed to it")
    with act_for(Tenant(settings.operator)):
        await Limits(tenants, shop.database, shop.most).check_spending(tenants)
        try:
            yield record
        finally:
            for model, usage in _sum_by_model(record).items():
                await drafts.add(tenants, DraftKind.REPLAY, "", Draft(model=model, usage=usage))


def _sum_by_model(record: LocalRecord) -> Mapping[str, Usage]:
    spent: defaultdict[str, Usage] = defaultdict(Usage)
    for turn in record.trajectory.turns:
        if turn.completion is not None:
            spent[turn.completion.model] += turn.completion.usage
    return spent


def _say_event(event: EventType, agent: str, payload: Mapping[str, Any]) -> None:
    """Tell of what goes wrong, and of each call."""
    if event is EventType.MODEL_CALL:
        say(f"{agent}: {payload['step']} by {payload['model']}")
    elif event in (EventType.WARNING, EventType.WAITING):
        say(f"{agent}: {as_one_line(str(payload.get('message') or payload.get('detail')))}")


def _write(path: Path, text: str) -> None:
    try:
        write_whole(path, text.encode())
    except OSError as error:
        raise SetupError(f"{path} cannot be written: {error.strerror}; choose another folder with --out") from error
