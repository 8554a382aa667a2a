"""Artifacts in a bucket behind S3's protocol, and copies of them in a folder of this machine.

<digest>/<name>     a file
<digest>.sha256     the digests of all files, as `sha256sum` writes them; its own SHA-256 is <digest>

The list is written when every file was read back. Without it, whatever lies there is no artifact.
"""

import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

from app.domain.errors import InvalidInput, NotFound, SetupError
from app.models.artifacts.bucket import Bucket
from app.models.artifacts.digests import (
    DIGEST,
    check_digest,
    digest_files,
    join_digests,
    list_files,
    open_plain,
    read_list,
    write_list,
)
from app.models.artifacts.folder import MOST_BYTES, FolderArtifacts

LIST = ".sha256"
LEFT_AFTER = timedelta(days=7)
"""Files without a list that are so old were left by a process that died."""


class S3Artifacts:
    """An `ArtifactStore` in a bucket. What is read is fetched to the folder `copies` first, once.

    Every call raises `Unavailable` while the store does not answer, and may be made again.
    """

    def __init__(
        self, bucket: Bucket, copies: FolderArtifacts, most_bytes: int = MOST_BYTES, left_after: timedelta = LEFT_AFTER
    ) -> None:
        self._bucket = bucket
        self._copies = copies
        self._most_bytes = most_bytes
        self._left_after = left_after

    def put(self, folder: Path) -> str:
        """Keep a copy of a folder. Files that an earlier try brought there are not sent again; damaged ones are."""
        files = list_files(folder)
        if sum(path.lstat().st_size for path in files.values()) > self._most_bytes:
            raise InvalidInput(f"{folder} is larger than an artifact may be; name the folder of the model alone")
        digests = digest_files(files)
        digest = join_digests(digests)
        self._sweep_left(digest)
        for name, path in files.items():
            self._bring(f"{digest}/{name}", path, digests[name])
        if not self._is_there(digest + LIST, digest):
            self._bucket.send(digest + LIST, write_list(digests))
        return digest

    def get(self, digest: str) -> Path:
        """Return the copy of an artifact on this machine. Each call reads all of it."""
        files = self._read_list(check_digest(digest))
        self._forget_copies()
        if (copy := self._copies.find(digest)) is None:
            self._fetch(digest, files)
            copy = self._copies.get(digest)
        return copy

    def has(self, digest: str) -> bool:
        """Say whether there is an artifact of this digest."""
        return self._bucket.has(check_digest(digest) + LIST)

    def delete(self, digest: str) -> None:
        """Delete an artifact and this machine's copy. Those of other machines go when they next read an artifact.

        The list goes last: what breaks off is still there to be deleted again.
        """
        self._copies.delete(check_digest(digest))
        self._bucket.delete(list(self._bucket.list_times(digest)))
        self._bucket.delete([digest + LIST])

    def _bring(self, key: str, path: Path, digest: str) -> None:
        """Send a file, unless it is there, and read it back."""
        if self._is_there(key, digest):
            return
        with open_plain(path) as stream:
            self._bucket.send(key, stream)
        if not self._is_there(key, digest):
            raise SetupError(
                f"{path} came back from {self._bucket.address} as another file: it changed meanwhile, or was damaged"
            )

    def _is_there(self, key: str, digest: str) -> bool:
        """Say whether an object has these bytes."""
        found = hashlib.sha256()
        try:
            for part in self._bucket.read(key):
                found.update(part)
        except NotFound:
            return False
        return found.hexdigest() == digest

    def _read_list(self, digest: str) -> Mapping[str, str]:
        try:
            lines = b"".join(self._bucket.read(digest + LIST))
        except NotFound as error:
            self._copies.delete(digest)
            raise NotFound(f"no artifact {digest} is kept in {self._bucket.address}; add its version again") from error
        if hashlib.sha256(lines).hexdigest() != digest:
            raise self._tell_damage(digest)
        return read_list(lines)

    def _fetch(self, digest: str, files: Mapping[str, str]) -> None:
        try:
            self._copies.keep(((name, self._bucket.read(f"{digest}/{name}")) for name in sorted(files)), digest)
        except (InvalidInput, NotFound) as error:
            raise self._tell_damage(digest) from error

    def _tell_damage(self, digest: str) -> SetupError:
        return SetupError(f"the artifact {digest} in {self._bucket.address} is damaged; adding the same folder again replaces it")

    def _forget_copies(self) -> None:
        """Delete copies of what was deleted from the bucket since."""
        for digest in self._copies.list_digests():
            if not self.has(digest):
                self._copies.delete(digest)

    def _sweep_left(self, wanted: str) -> None:
        """Delete what processes left that died, but not what is wanted now."""
        times = self._bucket.list_times()
        newest: dict[str, datetime] = {}
        for key, at in times.items():
            digest = key.partition("/")[0]
            newest[digest] = max(at, newest.get(digest, at))
        until = datetime.now(UTC) - self._left_after
        left = {
            digest
            for digest, at in newest.items()
            if DIGEST.fullmatch(digest) and digest != wanted and digest + LIST not in times and at < until
        }
        self._bucket.delete([key for key in times if key.partition("/")[0] in left])
