"""Do the work of `rubrica registry erased`."""

from datetime import UTC, datetime
from pathlib import Path

from app.models.artifacts.opening import open_artifacts
from app.models.service.erasure import carry_out_erasure, delete_erased_artifacts, list_to_retrain
from app.preferences.service.exportable import list_exportable
from app.preferences.service.pseudonyms import KEY_FILE, Pseudonyms, read_key
from app.settings import Settings
from infra.cli.execute import FAILED, say
from infra.cli.registry_commands import open_registry


async def carry_out(settings: Settings, key_file: Path | None) -> int:
    """Do what versions say for which judgements were erased, delete the weights of those withdrawn, and print what was done."""
    names = Pseudonyms(read_key(key_file or settings.home / KEY_FILE))
    artifacts = open_artifacts(settings.artifacts, settings.artifacts_url)
    async with open_registry(settings) as opened:
        exportable = await list_exportable(opened.database, names, datetime.now(UTC))
        found = await carry_out_erasure(opened.database, exportable, names.fingerprint)
        for each in found.erased:
            print(f"{each.version.name}: {each.rows} of {each.learned} judgements erased; {each.done}")
        for artifact in await delete_erased_artifacts(opened.database, artifacts):
            print(f"deleted the artifact {artifact}")
        for version in await list_to_retrain(opened.database):
            print(f"{version.name} is to be trained again")
    if not found.erased:
        print("no version learned from judgements that were erased since")
    for reason in found.left:
        say(f"not dealt with: {reason}")
    return FAILED if found.left else 0
