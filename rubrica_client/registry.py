"""The registry of trained models: what serves each role, the versions, and the operator's acts."""

from rubrica_client.models import (
    ActReason,
    ModelRole,
    ModelVersionDetail,
    ModelVersionPage,
    ModelVersionView,
    MoveList,
    OwnVotesView,
    Promotion,
    RoleList,
)
from rubrica_client.request import Request

REGISTRY = ("v1", "registry")


def roles() -> Request[RoleList]:
    """Return what serves each role, and since when."""
    return Request("GET", (*REGISTRY, "roles"), RoleList)


def versions(role: ModelRole | None = None, limit: int | None = None, before: str | None = None) -> Request[ModelVersionPage]:
    """List versions of trained models, newest first."""
    return Request("GET", (*REGISTRY, "versions"), ModelVersionPage, query={"role": role, "limit": limit, "before": before})


def version(version_id: str) -> Request[ModelVersionDetail]:
    """Return a version with its lineage, evaluations, canaries and history."""
    return Request("GET", (*REGISTRY, "versions", version_id), ModelVersionDetail)


def card(version_id: str) -> Request[str]:
    """Return the model card of a version, as Markdown."""
    return Request("GET", (*REGISTRY, "versions", version_id, "card"), str)


def moves(role: ModelRole | None = None, limit: int | None = None) -> Request[MoveList]:
    """List the last moves of roles, newest first."""
    return Request("GET", (*REGISTRY, "moves"), MoveList, query={"role": role, "limit": limit})


def my_votes() -> Request[OwnVotesView]:
    """Return which versions learned from your choices between reports."""
    return Request("GET", (*REGISTRY, "my-votes"), OwnVotesView)


def promote(version_id: str, promotion: Promotion) -> Request[ModelVersionView]:
    """Let a version serve its role."""
    return Request("POST", (*REGISTRY, "versions", version_id, "promote"), ModelVersionView, body=promotion).with_key()


def hold(role: ModelRole, why: ActReason) -> Request[None]:
    """Let no cycle move a role until it is released."""
    return Request("POST", (*REGISTRY, "roles", role, "hold"), type(None), body=why).with_key()


def release(role: ModelRole, why: ActReason) -> Request[None]:
    """Let cycles move a role again."""
    return Request("POST", (*REGISTRY, "roles", role, "release"), type(None), body=why).with_key()


def go_back(role: ModelRole, why: ActReason) -> Request[None]:
    """Give a role back to the model that had it before."""
    return Request("POST", (*REGISTRY, "roles", role, "back"), type(None), body=why).with_key()
