"""A bucket behind S3's protocol, by obstore, which signs, sends large files in parts, and asks again where a try failed.

Address, credentials and certificates come from AWS' own variables (`AWS_ENDPOINT_URL`, `AWS_ACCESS_KEY_ID`, ...).
"""

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from io import BufferedReader
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import obstore
from obstore.exceptions import BaseError, GenericError
from obstore.store import S3Store

from app.domain.errors import NotFound, SetupError, Unavailable

# A file has at most 10,000 parts, and a few of them are in memory at once.
PART = 32 * 2**20
PARTS_AT_ONCE = 3
PATIENCE = timedelta(minutes=3)
"""How long a request is tried again while the store is away."""
LONGEST_REQUEST = timedelta(minutes=5)
ALLOW_HTTP = "AWS_ALLOW_HTTP"
CODE = re.compile(r"<Code>(\w+)</Code>")
# obstore has classes for what a refused request for an object says, and none for a refused list.
REFUSED = re.compile(r"status code: 40[1345]")


class Bucket:
    """The objects of a bucket under a prefix, as an address `s3://bucket/prefix` names them.

    Every call raises:
        SetupError: the store refuses, or there is no such bucket.
        Unavailable: the store does not answer, or not as it should.
    """

    def __init__(
        self, address: str, patience: timedelta = PATIENCE, longest_request: timedelta = LONGEST_REQUEST, part: int = PART
    ) -> None:
        self.address = address
        self._part = part
        name, prefix = urlsplit(address).netloc, urlsplit(address).path.strip("/") or None
        connection = _choose_connection(longest_request)
        with self._tell_failures():
            self._store = S3Store(name, prefix=prefix, client_options=connection, retry_config={"retry_timeout": patience})

    def send(self, key: str, content: bytes | BufferedReader) -> None:
        """Store an object: whole, or not at all."""
        with self._tell_failures():
            obstore.put(self._store, key, content, chunk_size=self._part, max_concurrency=PARTS_AT_ONCE)

    def read(self, key: str) -> Iterator[bytes]:
        """Read an object, part by part.

        Raises:
            NotFound: there is none of this key.
        """
        with self._tell_failures(missing=NotFound):
            size = obstore.head(self._store, key)["size"]
            for start in range(0, size, self._part):
                yield bytes(obstore.get_range(self._store, key, start=start, end=min(start + self._part, size)))

    def has(self, key: str) -> bool:
        """Say whether there is an object of this key."""
        try:
            with self._tell_failures(missing=NotFound):
                obstore.head(self._store, key)
        except NotFound:
            return False
        return True

    def list_times(self, folder: str = "") -> dict[str, datetime]:
        """Return when each object below a folder was written, by their keys."""
        with self._tell_failures():
            listed: Sequence[Any] = obstore.list(self._store, prefix=folder or None).collect()
        return {each["path"]: each["last_modified"] for each in listed}

    def delete(self, keys: Sequence[str]) -> None:
        """Delete objects, those that are there."""
        if keys:
            with self._tell_failures():
                obstore.delete(self._store, list(keys))

    @contextmanager
    def _tell_failures(self, missing: type[Exception] = SetupError) -> Iterator[None]:
        try:
            yield
        except FileNotFoundError as error:
            raise missing(f"{self.address} has no such bucket or object: {_shorten(error)}") from error
        except (BaseError, ValueError) as error:
            if isinstance(error, GenericError) and not REFUSED.search(str(error)):
                raise Unavailable(f"{self.address} cannot do this now: {_shorten(error)}") from error
            raise SetupError(f"{self.address} cannot be used; see its credentials and rights: {_shorten(error)}") from error


def _choose_connection(longest_request: timedelta) -> dict[str, Any]:
    """Return how to connect: with TLS, unless AWS_ALLOW_HTTP is set."""
    plain = os.environ.get(ALLOW_HTTP, "").lower() in ("true", "1")
    endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL") or ""
    if endpoint.startswith("http:") and not plain:
        raise SetupError(f"{endpoint} has no TLS; name its https address, or set {ALLOW_HTTP}=true in a network of your own")
    return {"timeout": longest_request, "allow_http": plain, **_read_authorities()}


def _read_authorities() -> dict[str, bytes]:
    """Return the authorities of AWS_CA_BUNDLE, which are trusted beside the system's. obstore does not read it itself."""
    if not (bundle := os.environ.get("AWS_CA_BUNDLE")):
        return {}
    try:
        return {"root_certificate": Path(bundle).read_bytes()}
    except OSError as error:
        raise SetupError(f"AWS_CA_BUNDLE cannot be read: {bundle}: {error.strerror}") from error


def _shorten(error: Exception) -> str:
    """Return the first line of what obstore says, and the store's own word for it: the rest repeats it as Rust's values."""
    said = str(error)
    code = CODE.search(said)
    return said.partition("\n")[0].partition("<?xml")[0].strip() + (f" {code[1]}" if code else "")
