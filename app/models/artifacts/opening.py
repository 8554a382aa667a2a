"""The choice of where artifacts lie, from the settings."""

from pathlib import Path

from app.domain.errors import SetupError
from app.models.artifacts.folder import FolderArtifacts
from app.models.artifacts.ports import ArtifactStore

COPIES = "copies"


def open_artifacts(folder: Path, address: str | None) -> ArtifactStore:
    """Return the artifacts in a folder, or those behind an address, whose copies then lie in the folder.

    Raises:
        SetupError: obstore is missing, or the address has no TLS.
    """
    if address is None:
        return FolderArtifacts(folder)
    try:
        from app.models.artifacts.bucket import Bucket
    except ImportError as error:
        raise SetupError("RUBRICA_ARTIFACTS_URL needs obstore: `.venv/bin/pip install 'rubrica[s3]'`") from error
    from app.models.artifacts.s3 import S3Artifacts

    return S3Artifacts(Bucket(address), FolderArtifacts(folder / COPIES))
