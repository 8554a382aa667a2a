"""Settings that need one another, or exclude one another."""

from urllib.parse import urlsplit

NEEDS = (
    ("eval_judge_base_url", "eval_judge_model"),
    ("eval_judge_api_key", "eval_judge_base_url"),
    ("embeddings_url", "embeddings_model"),
    ("embeddings_model", "embeddings_url"),
    ("embeddings_api_key", "embeddings_url"),
    ("reranker_url", "reranker"),
    ("reranker_api_key", "reranker_url"),
    ("qdrant_grpc_port", "qdrant_url"),
    ("qdrant_prefix", "qdrant_url"),
    ("smtp_host", "smtp_from"),
    ("smtp_host", "public_url"),
    ("smtp_user", "smtp_password"),
    ("smtp_password", "smtp_user"),
    ("oidc_issuer", "oidc_client_id"),
    ("oidc_issuer", "public_url"),
    ("oidc_client_id", "oidc_issuer"),
    ("oidc_client_secret", "oidc_issuer"),
)
KEYS = (
    ("llm_base_url", "llm_api_key"),
    ("eval_judge_base_url", "eval_judge_api_key"),
    ("embeddings_url", "embeddings_api_key"),
    ("reranker_url", "reranker_api_key"),
)
"""The address of each server that may want a key, and the key. Both a user in the address and a key are one header."""


def explain_parts(prefix: str, settings: object) -> str:
    """Return why these settings do not go together; empty if they do. No value is repeated: an address may hold a password."""
    for given, needed in NEEDS:
        if getattr(settings, given) is not None and getattr(settings, needed) is None:
            return f"{prefix}{needed.upper()} is missing: {prefix}{given.upper()} is set, and needs it"
    for address, key in KEYS:
        if getattr(settings, key) is not None and "@" in urlsplit(getattr(settings, address) or "").netloc:
            names = f"{prefix}{address.upper()} has a user and a password, and {prefix}{key.upper()} is set"
            return f"{names}: a server takes one of them, so leave `user:password@` out of the address, or the key out"
    return ""
