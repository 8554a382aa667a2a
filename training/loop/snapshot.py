"""A cycle's snapshot: an export of what readers said and agreed to, at this moment. `python -m training.loop.snapshot FOLDER`."""

import asyncio
import os
import shutil
import sys
from datetime import UTC, datetime
from pathlib import Path

import asyncpg

from app.database.engine import connect
from app.domain.errors import SetupError
from app.domain.retraining import StepOutcome, StepTask, StepVerdict
from app.domain.step_folder import EXPORT
from app.models.artifacts.opening import open_artifacts
from app.models.artifacts.ports import ArtifactStore
from app.models.service.erasure import carry_out_erasure, delete_erased_artifacts
from app.preferences.service.exportable import list_exportable
from app.preferences.service.pseudonyms import KEY_FILE, Pseudonyms, read_key
from app.preferences.service.training_export import export
from app.settings import read_settings
from training.loop.step import run_step


async def take_snapshot(task: StepTask, folder: Path) -> StepOutcome:
    """Export readers' preferences with the evidence of their reports. What an earlier attempt left half is made anew.

    First, versions that learned from what was erased since are dealt with as each says.
    """
    settings = read_settings(os.environ)
    if settings.worker_database_url is None:
        raise SetupError("set RUBRICA_WORKER_DATABASE_URL: a snapshot reads the preferences of all organisations that agreed")
    shutil.rmtree(folder / EXPORT, ignore_errors=True)
    names = Pseudonyms(read_key(settings.home / KEY_FILE))
    pool = await connect(settings.worker_database_url.get_secret_value(), largest=2, setting="RUBRICA_WORKER_DATABASE_URL")
    try:
        erased = await _deal_with_erased(pool, names, open_artifacts(settings.artifacts, settings.artifacts_url))
        now, shares = datetime.now(UTC), task.held_out.shares
        manifest = await export(pool, folder / EXPORT, task.since, now, names, evidence=True, held_out=shares)
    finally:
        await pool.close()
    rows = {name: file["rows"] for name, file in manifest.files.items()}
    told = {"rows": rows, "consenting": manifest.consenting, "said": manifest.said, "erased": erased}
    return StepOutcome(verdict=StepVerdict.DONE, figures=told)


async def _deal_with_erased(pool: asyncpg.Pool, names: Pseudonyms, artifacts: ArtifactStore) -> dict[str, str]:
    """Carry out what versions say for votes that were erased, and return what was done, by their names."""
    exportable = await list_exportable(pool, names, datetime.now(UTC))
    found = await carry_out_erasure(pool, exportable, names.fingerprint)
    await delete_erased_artifacts(pool, artifacts)
    return {each.version.name: f"{each.rows} of {each.learned} judgements erased; {each.done}" for each in found.erased}


if __name__ == "__main__":
    sys.exit(run_step(lambda task, folder: asyncio.run(take_snapshot(task, folder))))
