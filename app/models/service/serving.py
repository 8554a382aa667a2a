"""Which models serve: the settings' models, those that are added, who has each role, and canaries."""

from collections.abc import Sequence
from uuid import UUID

import asyncpg

from app.database.engine import Executor, translate_outages
from app.domain.errors import Conflict, NotFound
from app.domain.model_versions import Canary, CanaryState
from app.domain.served_models import AliasMove, ModelRole, Notation, ServedModel
from app.models.service.registry import ENDED, get_version
from app.models.storage import aliases, canaries, served, versions
from app.settings import Settings

SETTINGS = "settings"
"""Who moves an alias when the settings name another model."""
SETTINGS_KEY = "RUBRICA_LLM_API_KEY"


def list_models_of_settings(settings: Settings) -> list[ServedModel]:
    """Return the models that the settings name: the one that everything asks first, then its alternatives."""
    if settings.llm_base_url is None or settings.default_model is None:
        return []
    return [
        ServedModel(
            name=model.name,
            address=settings.llm_base_url,
            key_setting=SETTINGS_KEY if settings.llm_api_key else "",
            notation=Notation(settings.llm_codec.value),
            context=settings.llm_context,
            input_price=model.input_price,
            output_price=model.output_price,
        )
        for model in (settings.default_model, *settings.alternatives)
    ]


async def register_settings(trusted: asyncpg.Pool, models: Sequence[ServedModel]) -> None:
    """Know the settings' models, and give the first of them each role that nobody else has ever moved."""
    if not models:
        return
    async with translate_outages(), trusted.acquire() as connection, connection.transaction():
        await aliases.lock(connection)
        for model in models:
            await served.set_of_settings(connection, model)
        held = await aliases.list_all(connection)
        for role in ModelRole:
            if role not in held or held[role].of_settings:
                await move_alias(connection, role, models[0].name, SETTINGS, "the settings name this model")


async def add_model(connection: Executor, model: ServedModel) -> None:
    """Add a served model; one that was gone is back.

    Raises:
        Conflict: the name means another one, and a name never means two things; or its version was refused or withdrawn.
    """
    if model.version is not None and (await get_version(connection, model.version)).state in ENDED:
        raise Conflict(f"{model.name!r} never serves again: its version was refused or withdrawn")
    if not await served.add(connection, model):
        raise Conflict(f"the name {model.name!r} means another served model already; give this one a name of its own")


async def move_alias(connection: Executor, role: ModelRole, to: str, by: str, why: str) -> AliasMove | None:
    """Give a role to a served model, and keep the move. The move tells the holder before; None: `to` has the role already.

    What the settings gave and somebody gives again stays, from then on, when the settings change. `connection` has a
    transaction open. `by` is a person's address, `cycle`, `canary` or `settings`. Runs that exist keep theirs.

    Raises:
        NotFound: there is no served model of this name.
        Conflict: it is gone.
    """
    await aliases.lock(connection)
    before = (await aliases.list_all(connection)).get(role)
    pinned = before is not None and before.of_settings and by != SETTINGS
    if before is not None and before.served == to and not pinned:
        return None
    if not await aliases.set_holder(connection, role, to, by == SETTINGS):
        await get_model(connection, to)
        raise Conflict(f"the served model {to!r} is gone from its server: add it again once it is there, or choose another")
    return await aliases.note_move(connection, role, before.served if before else "", to, by, why)


async def get_model(database: Executor, name: str) -> served.KnownModel:
    """Return the served model of this name.

    Raises:
        NotFound: there is none.
    """
    found = await served.get(database, name)
    if found is None:
        raise NotFound(f"there is no served model {name!r}")
    return found


async def start_canary(connection: Executor, id_: UUID, version: UUID, name: str, share: float) -> Canary:
    """Let a candidate serve its share of the organisations, in all its roles. Starting the same one again changes nothing.

    Raises:
        NotFound: there is no such version, or no served model of this name.
        Conflict: it is gone, or another canary runs in one of the roles.
    """
    await versions.hold_all_roles(connection)
    roles = (await get_version(connection, version)).roles
    if (await get_model(connection, name)).gone_at is not None:
        raise Conflict(f"the served model {name!r} is gone from its server: add it again once it is there")
    started = await canaries.start(connection, id_, version, roles, name, share) or await canaries.get(connection, id_)
    if started is None:
        raise Conflict(f"another canary runs as {' or '.join(roles)}: end it first")
    return started


async def end_canary(connection: Executor, id_: UUID, state: CanaryState, why: str) -> Canary:
    """End a canary, in this state. Runs that exist keep their models. One that has ended already stays as it ended.

    Raises:
        NotFound: there is no such canary.
    """
    ended = await canaries.end(connection, id_, state, why) or await canaries.get(connection, id_)
    if ended is None:
        raise NotFound(f"there is no canary {id_}")
    return ended
