"""The caller of a request: their organisation, role and scopes."""

from collections.abc import Mapping
from enum import StrEnum
from uuid import UUID

from app.domain.value import Value

# The one organisation of a deployment without sign-up, such as a local stack; runs older than organisations belong to it.
LOCAL_ORGANISATION = UUID("00000000-0000-4000-8000-000000000001")
LOCAL_USER = UUID("00000000-0000-4000-8000-000000000002")


class Role(StrEnum):
    """The position of a person in an organisation. Each role may do all that the ones below it may."""

    OWNER = "owner"
    ADMIN = "admin"
    MEMBER = "member"
    VIEWER = "viewer"

    def reaches(self, other: "Role") -> bool:
        """Return True when this role is at least as high as another, so that its holder may give and take that one."""
        order = list(Role)
        return order.index(self) <= order.index(other)


class AccessScope(StrEnum):
    """A permission. Every route needs one; a key may hold fewer than its person's role allows."""

    RUNS_READ = "runs:read"
    RUNS_WRITE = "runs:write"
    REPORTS_READ = "reports:read"
    REPORTS_WRITE = "reports:write"
    COLLECTIONS_READ = "collections:read"
    COLLECTIONS_WRITE = "collections:write"
    PREFERENCES_READ = "preferences:read"
    PREFERENCES_WRITE = "preferences:write"
    ANNOTATIONS_WRITE = "annotations:write"
    ANNOTATIONS_MANAGE = "annotations:manage"
    SCHEDULES_READ = "schedules:read"
    SCHEDULES_WRITE = "schedules:write"
    WEBHOOKS_READ = "webhooks:read"
    WEBHOOKS_WRITE = "webhooks:write"
    TEAM_READ = "team:read"
    TEAM_WRITE = "team:write"
    KEYS_READ = "keys:read"
    KEYS_WRITE = "keys:write"
    MODELS_READ = "models:read"
    MODELS_MANAGE = "models:manage"
    USAGE_READ = "usage:read"
    AUDIT_READ = "audit:read"
    ACCOUNT_READ = "account:read"
    ACCOUNT_WRITE = "account:write"
    ORGANISATION_READ = "organisation:read"
    ORGANISATION_WRITE = "organisation:write"


_VIEWER = frozenset(
    {
        AccessScope.RUNS_READ,
        AccessScope.REPORTS_READ,
        AccessScope.COLLECTIONS_READ,
        AccessScope.PREFERENCES_READ,
        AccessScope.SCHEDULES_READ,
        AccessScope.MODELS_READ,
        AccessScope.TEAM_READ,
        AccessScope.ACCOUNT_READ,
        AccessScope.ACCOUNT_WRITE,
        AccessScope.ORGANISATION_READ,
    }
)
_MEMBER = _VIEWER | {
    AccessScope.RUNS_WRITE,
    AccessScope.REPORTS_WRITE,
    AccessScope.COLLECTIONS_WRITE,
    AccessScope.PREFERENCES_WRITE,
    AccessScope.SCHEDULES_WRITE,
    AccessScope.KEYS_READ,
    AccessScope.KEYS_WRITE,
    AccessScope.USAGE_READ,
    AccessScope.ANNOTATIONS_WRITE,
}
_ADMIN = _MEMBER | {
    AccessScope.TEAM_WRITE,
    AccessScope.WEBHOOKS_READ,
    AccessScope.WEBHOOKS_WRITE,
    AccessScope.AUDIT_READ,
    AccessScope.ANNOTATIONS_MANAGE,
    AccessScope.MODELS_MANAGE,
}
SCOPES_OF_ROLE: Mapping[Role, frozenset[AccessScope]] = {
    Role.VIEWER: _VIEWER,
    Role.MEMBER: _MEMBER,
    Role.ADMIN: _ADMIN,
    Role.OWNER: frozenset(AccessScope),
}


class Pace(Value):
    """The number of requests a minute that an organisation and a key allow; None is no limit."""

    organisation: int | None = None
    key: int | None = None


class Principal(Value):
    """The caller of a request: a person in an organisation, with the scopes that this key or session has."""

    organisation_id: UUID
    user_id: UUID
    role: Role
    scopes: frozenset[AccessScope]
    key_id: UUID | None = None
    pace: Pace = Pace()
