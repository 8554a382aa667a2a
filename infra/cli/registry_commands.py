"""Do the work of `rubrica registry`: look at versions, and move roles."""

import getpass
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from decimal import Decimal

import asyncpg

from app.database.tenancy import Tenant
from app.domain.model_versions import ModelVersion
from app.domain.served_models import AliasMove, ModelRole, Notation, ServedModel
from app.models.service import registry, serving
from app.models.service.acts import Actor, ModelActs
from app.models.service.figures import FigureTable, tabulate
from app.models.storage import aliases, canaries, role_holds, versions
from app.settings import Settings
from infra.cli.registry_asking import require_answer
from infra.cli.worker_database import open_worker_pool
from infra.local.home import Home

TIME = "%Y-%m-%d %H:%M"


@dataclass(frozen=True)
class OpenRegistry:
    """The registry of the deployment, and who acts on it from this command line."""

    database: asyncpg.Pool
    acts: ModelActs
    actor: Actor


@asynccontextmanager
async def open_registry(settings: Settings) -> AsyncIterator[OpenRegistry]:
    """Open the registry.

    Raises:
        SetupError: the database cannot be used.
    """
    async with open_worker_pool(settings, Home(settings.home)) as pool:
        yield OpenRegistry(pool, ModelActs(pool), name_actor(settings))


def name_actor(settings: Settings) -> Actor:
    """Return who acts from this command line, in the operator's audit log."""
    return Actor(f"{getpass.getuser()} at the command line", Tenant(settings.operator))


async def list_versions(settings: Settings, role: ModelRole | None, limit: int) -> int:
    """Print a line for each role and each version."""
    async with open_registry(settings) as opened:
        holders, held = await aliases.list_all(opened.database), await role_holds.list_all(opened.database)
        running = await canaries.list_running(opened.database)
        for each in [role] if role else list(ModelRole):
            holder = holders.get(each)
            told = f"{holder.served} since {holder.since:{TIME}}" if holder else "the settings' model"
            canary = f"; canary {running[each].served} for {running[each].share:.0%}" if each in running else ""
            stopped = f"; held by {held[each].by}: {held[each].why}" if each in held else ""
            print(f"{each:10} {told}{canary}{stopped}")
        for version in await versions.list_page(opened.database, limit, role, None):
            print(f"{version.name:34} {version.state:10} {version.created_at:{TIME}}  {version.recipe}  {version.base}")
    return 0


async def show(settings: Settings, named: str) -> int:
    """Print a version with its history and figures."""
    async with open_registry(settings) as opened:
        version = await registry.find_version(opened.database, named)
        detail = await registry.describe_version(opened.database, version.id)
    print(f"{version.name}  {version.state}  {version.id}")
    print(f"recipe {version.recipe or '-'}, base {version.base}, licence {version.licence or 'not told'}, in {version.notation}")
    print(f"artifact {version.artifact}")
    for each in version.sets:
        print(f"learned from {each.rows} rows of {each.kind}, manifest {each.digest}")
    print(f"judgements of readers among them: {detail.pairs}; when some are erased: {version.on_erasure}")
    print(f"lineage: {' > '.join(each.name for each in detail.lineage)}")
    for change in detail.changes:
        print(f"{change.at:{TIME}}  {change.state:10} {change.by}: {change.why}")
    for move in detail.moves:
        print(f"{move.at:{TIME}}  {_tell_move(move)} ({move.by}: {move.why})")
    for canary in detail.canaries:
        print(f"{canary.started_at:{TIME}}  canary for {canary.share:.0%} as {canary.served}: {canary.state} {canary.why}")
    for evaluation in detail.evaluations:
        print(f"\n{evaluation.kind} of {evaluation.at:{TIME}}")
        for table in tabulate({name: value for name, value in evaluation.figures.items() if name != "curves"}):
            _print_table(table)
    return 0


async def serve(
    settings: Settings,
    named: str,
    address: str,
    name: str,
    key_setting: str,
    context: int,
    temperature: float | None,
    input_price: float,
    output_price: float,
) -> int:
    """Add the served model of a version."""
    async with open_registry(settings) as opened:
        version = await registry.find_version(opened.database, named)
        model = ServedModel(
            name=name or version.name,
            address=address.rstrip("/"),
            key_setting=key_setting,
            notation=Notation(version.notation),
            context=context,
            temperature=temperature,
            input_price=Decimal(str(input_price)),
            output_price=Decimal(str(output_price)),
            adapter=version.artifact,
            base=version.base,
            version=version.id,
        )
        await serving.add_model(opened.database, model)
    print(model.name)
    return 0


async def promote(settings: Settings, named: str, served: str, why: str, unasked: bool) -> int:
    """Let a version serve its role, once its server answered with it or a person wants it unasked.

    Raises:
        InvalidInput: the server does not answer, or not with this model.
    """
    async with open_registry(settings) as opened:
        version = await registry.find_version(opened.database, named)
        model = (await serving.get_model(opened.database, served or version.name)).model
        if not unasked:
            await require_answer(model, settings)
        promoted = await opened.acts.promote(version.id, served or version.name, opened.actor, why)
    print(f"{promoted.name} serves the {' and the '.join(promoted.roles)}")
    if settings.llm_base_url is None and settings.local_model is None:
        print(
            "note: these settings name no model (RUBRICA_LLM_BASE_URL); where the deployment's name none either, its reports are "
            "quotations, and its runs ask no model in any role, this one neither"
        )
    return 0


async def hold(settings: Settings, role: ModelRole, why: str) -> int:
    """Hold a role."""
    async with open_registry(settings) as opened:
        await opened.acts.hold(role, opened.actor, why)
    print(f"the {role} is held until `rubrica registry release {role}`")
    return 0


async def release(settings: Settings, role: ModelRole, why: str) -> int:
    """Release a role."""
    async with open_registry(settings) as opened:
        await opened.acts.release(role, opened.actor, why)
    print(f"cycles may move the {role} again")
    return 0


async def go_back(settings: Settings, role: ModelRole, why: str) -> int:
    """Give a role back to who had it before."""
    async with open_registry(settings) as opened:
        moves = await opened.acts.go_back(role, opened.actor, why)
    for move in moves:
        print(_tell_move(move))
    return 0


async def withdraw(settings: Settings, named: str, why: str) -> int:
    """Withdraw a version."""
    async with open_registry(settings) as opened:
        version: ModelVersion = await registry.find_version(opened.database, named)
        moves = await opened.acts.withdraw(version.id, opened.actor, why)
    print(f"{version.name} is withdrawn")
    for move in moves:
        print(_tell_move(move))
    return 0


def _tell_move(move: AliasMove) -> str:
    return f"{move.role}: {move.came_from or 'nothing'} > {move.went_to}"


def _print_table(table: FigureTable) -> None:
    rows = (table.head, *table.rows) if any(table.head) else table.rows
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    print(*([table.title] if table.title else []), sep="\n")
    for row in rows:
        print("  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
