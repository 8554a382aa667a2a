"""Secrets that are handed out once and stored hashed: of sessions, invitations, sign-ins under way."""

import hashlib
import secrets

TOKEN_BYTES = 32


def new_token() -> str:
    """256 random bits, as text for a cookie or an address."""
    return secrets.token_urlsafe(TOKEN_BYTES)


def token_digest(token: str) -> bytes:
    """What is stored and looked up. The token is random, so a plain SHA-256 cannot be guessed back."""
    return hashlib.sha256(token.encode()).digest()
