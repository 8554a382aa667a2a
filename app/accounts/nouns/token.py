"""Make secrets that are handed out once and stored as hashes: of sessions, invitations, and sign-ins under way."""

import hashlib
import secrets

TOKEN_BYTES = 32


def new_token() -> str:
    """Return 256 random bits as text, for a cookie or an address."""
    return secrets.token_urlsafe(TOKEN_BYTES)


def digest_token(token: str) -> bytes:
    """Return the hash that is stored and looked up. The token is random, so nobody can guess it from a plain SHA-256."""
    return hashlib.sha256(token.encode()).digest()
