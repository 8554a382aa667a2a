"""The consents of readers whose queries are mixed into a set: when they were looked up, and which of them are gone.

`rubrica eval build publish` writes both beside the queries, and says with each newer version which queries were withdrawn.
"""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from training.evaluation.benchmarks.files import read_json_lines
from training.evaluation.builder.publishing import MANIFEST, QUERIES, SetManifest


def find_consent_moment(mined: Path | None, of_inputs: datetime | None) -> datetime | None:
    """Return the earlier moment of both: that of the inputs, and that of the newest version of the mined queries."""
    moments = [manifest.consents_checked_at for manifest in _read_versions(mined)] if mined else []
    return min((moment for moment in (of_inputs, max(moments, default=None)) if moment), default=None)


def read_withdrawn(mined: Path) -> frozenset[str]:
    """Return the texts of the queries that any version says are withdrawn."""
    names = {name for manifest in _read_versions(mined) for name in manifest.withdrawn}
    files = {mined, *mined.parent.parent.glob(f"v*/{QUERIES}")} if names else set()
    rows = [row for file in files for row in read_json_lines(file, dict)]
    return frozenset(str(row["prompt"]).strip() for row in rows if str(row.get("id")) in names)


def _read_versions(mined: Path) -> Sequence[SetManifest]:
    """Read the manifests of all versions; none where the queries were not published by the command."""
    if not (mined.parent / MANIFEST).exists():
        return ()
    return [SetManifest.model_validate_json(path.read_bytes()) for path in mined.parent.parent.glob(f"v*/{MANIFEST}")]
