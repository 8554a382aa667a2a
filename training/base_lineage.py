"""The lineage of a base model: what tells its weights from all others, whatever name a server gives them."""

from collections.abc import Mapping
from pathlib import Path

from training.evaluation.harness.manifest import digest_files

DIGESTED = ("*.safetensors", "config.json", "tokenizer.json")


def digest_base(base: str) -> dict[str, str]:
    """Return the SHA-256 of a base model's files; none for a name on the hub, whose revision the configuration states."""
    folder = Path(base)
    files = [path for pattern in DIGESTED for path in sorted(folder.glob(pattern))] if folder.is_dir() else []
    return digest_files(files)


def trace_base(base: str, revision: str = "") -> Mapping[str, str]:
    """Return the lineage of a base: the digests of its files, or its name on the hub with its revision."""
    return digest_base(base) or {base: revision}
