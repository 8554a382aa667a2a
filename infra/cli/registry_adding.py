"""Do the work of `rubrica registry add`: from a folder to an artifact and a version."""

import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import asyncpg

from app.domain.errors import InvalidInput
from app.domain.model_versions import ErasurePolicy, EvaluationKind, TrainedModel, TrainedOn
from app.domain.served_models import ModelRole, Notation
from app.models.artifacts.opening import open_artifacts
from app.models.service import registry
from app.preferences.service.exportable import list_exportable
from app.preferences.service.pseudonyms import KEY_FILE, Pseudonyms, read_key
from app.settings import Settings
from infra.cli.registry_commands import open_registry
from infra.cli.registry_folder import TrainedFolder, read_trained_folder


@dataclass(frozen=True)
class AddedFolder:
    """What is to be added, and what is told about it; empty: as the folder says. Its own role is the first."""

    folder: Path
    roles: tuple[ModelRole, ...]
    why: str
    recipe: str
    base: str
    licence: str
    notation: Notation
    parent: str
    on_erasure: ErasurePolicy
    sets: tuple[Path, ...]
    key_file: Path | None


async def add(settings: Settings, asked: AddedFolder) -> int:
    """Copy the model to the artifacts, add a version with the figures of its run, and print its name.

    Raises:
        InvalidInput: the folder cannot be used, its base is not known, or its rows are not of this deployment.
        NotFound: its parent is not in the registry.
    """
    read = await asyncio.to_thread(read_trained_folder, asked.folder, asked.sets)
    if not (asked.base or read.base):
        raise InvalidInput(f"{asked.folder} does not tell on what it was trained; name it by --base")
    async with open_registry(settings) as opened:
        parent = (await registry.find_version(opened.database, asked.parent)).id if asked.parent else None
        sets = await _name_key(opened.database, settings, asked, read)
        made = TrainedModel(
            role=asked.roles[0],
            also=asked.roles[1:],
            parent=parent,
            recipe=asked.recipe or read.recipe,
            configuration=dict(read.configuration),
            build=read.build,
            sets=sets,
            artifact=await asyncio.to_thread(open_artifacts(settings.artifacts, settings.artifacts_url).put, read.model),
            base=asked.base or read.base,
            notation=asked.notation,
            licence=asked.licence or read.licence,
            on_erasure=asked.on_erasure,
        )
        async with opened.database.acquire() as connection, connection.transaction():
            version = await registry.add_version(connection, uuid4(), made, sorted(read.pairs), opened.actor.name, asked.why)
            if read.figures:
                await registry.note_evaluation(connection, version.id, EvaluationKind.TRAINING, dict(read.figures))
    print(version.name)
    return 0


async def _name_key(database: asyncpg.Pool, settings: Settings, asked: AddedFolder, read: TrainedFolder) -> tuple[TrainedOn, ...]:
    """Return the sets, those with readers' judgements under the key of their pseudonyms.

    Under another key all of them would look erased: some have to be known here.
    """
    if not read.pairs:
        return tuple(each.told for each in read.sets)
    names = Pseudonyms(read_key(asked.key_file or settings.home / KEY_FILE))
    if not read.pairs & await list_exportable(database, names, datetime.now(UTC)):
        raise InvalidInput(
            f"none of the {len(read.pairs)} judgements that {asked.folder} learned from is one that this deployment could export "
            "under this key: name the key of their export by --key-file, or train without them"
        )
    return tuple(each.told.model_copy(update={"key": names.fingerprint}) if each.pairs else each.told for each in read.sets)
