"""Name people and their judgements so that only the holder of a key can connect the names with them."""

import hashlib
import hmac
import os
import secrets
from pathlib import Path

from app.domain.errors import SetupError

KEY_FILE = "pseudonyms.key"
"""The name of the key's file in the home."""
KEY_BYTES = 32
NAME_CHARS = 20


class Pseudonyms:
    """Keyed hashes (HMAC-SHA256). The same key gives the same names, so that exports can be joined; another key gives others."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    @property
    def fingerprint(self) -> str:
        """The name of the key itself: it tells keys apart and reveals none."""
        return self.of("fingerprint")

    def of(self, kind: str, *ids: object) -> str:
        """Return the pseudonym of what these ids identify. `kind` keeps names of different things apart."""
        said = "\0".join([kind, *map(str, ids)])
        return hmac.digest(self._key, said.encode(), hashlib.sha256).hex()[:NAME_CHARS]


def read_key(path: Path) -> bytes:
    """Return the key in this file; make the file (mode 0600) where there is none.

    Raises:
        SetupError: the file cannot be read or made, or holds something else.
    """
    try:
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as made:
            made.write(secrets.token_bytes(KEY_BYTES))
    except FileExistsError:
        pass
    except OSError as error:
        raise SetupError(f"the key of the pseudonyms cannot be made at {path}: {error}") from error
    try:
        key = path.read_bytes()
    except OSError as error:
        raise SetupError(f"the key of the pseudonyms cannot be read: {error}") from error
    if len(key) < KEY_BYTES:
        raise SetupError(f"{path} holds no key of {KEY_BYTES} bytes; name another file, or take it away to have one made")
    return key
