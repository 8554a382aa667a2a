"""An export with fewer votes, in the form that sets are made of."""

import hashlib
import shutil
from pathlib import Path

import orjson

from app.domain.value import Value
from app.preferences.service.training_export import MANIFEST, PAIRS, UNDECIDED
from training.loop.vote_checks import CheckedVotes


def write_kept(export: Path, out: Path, checked: CheckedVotes) -> None:
    """Write the checked votes of an export as an export of its own. All else is as it was; the digests tell of the new files."""
    part = out.with_name(f"{out.name}.part")
    for folder in (part, out):
        shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(export, part)
    manifest = orjson.loads((part / MANIFEST).read_bytes())
    manifest["files"][PAIRS] = _write_rows(part / PAIRS, checked.pairs)
    manifest["files"][UNDECIDED] = _write_rows(part / UNDECIDED, checked.undecided)
    (part / MANIFEST).write_bytes(orjson.dumps(manifest, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS))
    part.rename(out)


def _write_rows(path: Path, rows: tuple[Value, ...]) -> dict[str, int | str]:
    lines = b"".join(orjson.dumps(row.model_dump(mode="json"), option=orjson.OPT_SORT_KEYS) + b"\n" for row in rows)
    path.write_bytes(lines)
    return {"rows": len(rows), "sha256": hashlib.sha256(lines).hexdigest()}
