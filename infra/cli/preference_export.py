"""Do the work of `rubrica preferences export`: copy preferences from the deployment's database to a folder."""

from datetime import UTC, datetime
from pathlib import Path

from app.preferences.service.pseudonyms import KEY_FILE, Pseudonyms, read_key
from app.preferences.service.training_export import Manifest
from app.preferences.service.training_export import export as write
from app.settings import Settings
from infra.cli.worker_database import open_worker_pool
from infra.local.home import Home


async def export(settings: Settings, out: Path, since: datetime, comments: bool, evidence: bool, key_file: Path | None) -> int:
    """Write the export and print what is in it.

    Raises:
        SetupError: the database or the key cannot be used.
        InvalidInput: the folder is not empty.
    """
    home = Home(settings.home)
    async with open_worker_pool(settings, home) as pool:
        names = Pseudonyms(read_key(key_file or home.root / KEY_FILE))
        _print_summary(out, await write(pool, out, since, datetime.now(UTC), names, comments, evidence))
    return 0


def _print_summary(out: Path, manifest: Manifest) -> None:
    for name, file in manifest.files.items():
        print(f"{out / name}: {file['rows']} rows")
    feedback = ", ".join(f"{count} {what}" for what, count in manifest.said.items())
    agreeing = manifest.consenting
    for reason, count in manifest.evidence_left_out.items():
        print(f"evidence left out: {count} runs ({reason.replace('_', ' ')})")
    print(f"feedback since then: {feedback}; agreeing: {agreeing['organisations']} organisations, {agreeing['people']} people")
