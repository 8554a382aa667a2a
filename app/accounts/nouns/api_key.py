"""Write and read API keys as text: `rbk_<id>_<secret>`. The id finds the key; only a hash of the secret is stored."""

import hashlib
import hmac
import secrets
from typing import NamedTuple, Self
from uuid import UUID, uuid4

from app.domain.errors import Unauthenticated

PREFIX = "rbk"
SECRET_BYTES = 32


class ApiKey(NamedTuple):
    """A key in clear text, shown once when it is made."""

    id: UUID
    secret: str

    @classmethod
    def new(cls) -> Self:
        """Return a key with 256 random bits."""
        return cls(uuid4(), secrets.token_urlsafe(SECRET_BYTES))

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the key that a client sent.

        Raises:
            Unauthenticated: this is no key of ours.
        """
        prefix, _, rest = text.partition("_")
        name, _, secret = rest.partition("_")
        if prefix != PREFIX or len(name) != 32 or not secret:
            raise Unauthenticated("this is no API key of Rubrica's; a key begins with rbk_")
        try:
            return cls(UUID(hex=name), secret)
        except ValueError as error:
            raise Unauthenticated("this is no API key of Rubrica's; a key begins with rbk_") from error

    def __str__(self) -> str:
        return f"{PREFIX}_{self.id.hex}_{self.secret}"

    def __repr__(self) -> str:
        """Leave the secret out, for logs and tracebacks."""
        return f"ApiKey({self.id})"

    @property
    def digest(self) -> bytes:
        """The hash that is stored. The secret is random, so nobody can guess it from a plain SHA-256."""
        return hashlib.sha256(self.secret.encode()).digest()

    def matches(self, digest: bytes) -> bool:
        """Compare the hashes in constant time."""
        return hmac.compare_digest(self.digest, digest)
