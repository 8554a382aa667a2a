"""Do the work of `rubrica registry export`."""

import os

from app.models.service import registry
from app.models.service.mlflow_export import export_version
from app.settings import Settings
from infra.cli.registry_commands import open_registry

TOKEN = "MLFLOW_TRACKING_TOKEN"


async def export(settings: Settings, named: str, mlflow: str) -> int:
    """Bring a version into an MLflow registry, and print its name and number there."""
    async with open_registry(settings) as opened:
        version = await registry.find_version(opened.database, named)
        detail = await registry.describe_version(opened.database, version.id)
    print(await export_version(mlflow, os.environ.get(TOKEN, ""), detail))
    return 0
