"""A cycle's snapshot: an export of what readers said and agreed to, at this moment. `python -m training.loop.snapshot FOLDER`."""

import asyncio
import os
import shutil
import sys
from datetime import UTC, datetime
from pathlib import Path

from app.database.engine import connect
from app.domain.errors import SetupError
from app.domain.retraining import StepOutcome, StepTask, StepVerdict
from app.preferences.service.pseudonyms import KEY_FILE, Pseudonyms, read_key
from app.preferences.service.training_export import export
from app.settings import read_settings
from training.loop.step import run_step

EXPORT = "export"


async def take_snapshot(task: StepTask, folder: Path) -> StepOutcome:
    """Export readers' preferences with the evidence of their reports. What an earlier attempt left half is made anew."""
    settings = read_settings(os.environ)
    if settings.worker_database_url is None:
        raise SetupError("set RUBRICA_WORKER_DATABASE_URL: a snapshot reads the preferences of all organisations that agreed")
    shutil.rmtree(folder / EXPORT, ignore_errors=True)
    names = Pseudonyms(read_key(settings.home / KEY_FILE))
    pool = await connect(settings.worker_database_url.get_secret_value(), largest=2, setting="RUBRICA_WORKER_DATABASE_URL")
    try:
        now, shares = datetime.now(UTC), task.held_out.shares
        manifest = await export(pool, folder / EXPORT, task.since, now, names, evidence=True, held_out=shares)
    finally:
        await pool.close()
    rows = {name: file["rows"] for name, file in manifest.files.items()}
    return StepOutcome(verdict=StepVerdict.DONE, figures={"rows": rows, "consenting": manifest.consenting, "said": manifest.said})


if __name__ == "__main__":
    sys.exit(run_step(lambda task, folder: asyncio.run(take_snapshot(task, folder))))
