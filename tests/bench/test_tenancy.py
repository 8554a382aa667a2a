"""What the authorisation matrix calls a leak."""

from uuid import UUID

import pytest

from app.accounts.nouns.access import SCOPES_OF_ROLE, AccessScope, Role
from app.accounts.nouns.api_key import ApiKey
from bench.tenancy import Actor, find_faults
from bench.tenancy_houses import SeededOrganisation
from bench.tenancy_routes import TenancyRequest

HOUSE = SeededOrganisation(UUID(int=1), ApiKey.new(), {}, {}, UUID(int=2), "The secret.", {}, {})
RUN = TenancyRequest("GET /v1/runs/{run_id}", "GET", "/v1/runs/1", None, frozenset({AccessScope.RUNS_READ}), True, False)
CYCLE = RUN._replace(name="GET /v1/registry/cycles/{cycle_id:uuid}", needs=frozenset({AccessScope.MODELS_READ}))
HOLD = RUN._replace(name="POST /v1/registry/roles/{role:str}/hold", needs=frozenset({AccessScope.MODELS_MANAGE}))
LIST = RUN._replace(name="GET /v1/runs", names_a_resource=False)
NOBODY = Actor("no key", {}, None)
STRANGER = Actor("other tenant", {}, Role.OWNER, frozenset(AccessScope))
OWNER = Actor("owner", {}, Role.OWNER, frozenset(AccessScope))
VIEWER = Actor("viewer", {}, Role.VIEWER, SCOPES_OF_ROLE[Role.VIEWER])


@pytest.mark.parametrize(
    ("actor", "route", "status", "body", "leaks"),
    [
        (NOBODY, RUN, 401, b"", 0),
        (NOBODY, RUN, 404, b"", 1),
        (NOBODY, RUN, 200, b"The secret.", 2),
        (NOBODY, RUN._replace(needs=frozenset()), 200, b"", 0),
        (STRANGER, RUN, 404, b"", 0),
        (STRANGER, RUN, 200, b"{}", 1),
        (STRANGER, RUN, 404, b"The secret.", 1),
        (STRANGER, LIST, 200, b"[]", 0),
        (STRANGER, LIST, 200, str(HOUSE.organisation).encode(), 1),
        (VIEWER, RUN, 200, b"The secret.", 0),
        (VIEWER, RUN, 403, b"", 1),
        (VIEWER, RUN._replace(needs=frozenset({AccessScope.RUNS_WRITE})), 403, b"", 0),
        (VIEWER, RUN._replace(needs=frozenset({AccessScope.RUNS_WRITE})), 409, b"", 1),
        (VIEWER, RUN, 500, b"", 1),
        (OWNER, CYCLE, 403, b"", 0),
        (OWNER, CYCLE, 404, b"", 1),
        (STRANGER, CYCLE, 403, b"", 0),
        (NOBODY, CYCLE, 401, b"", 0),
        (OWNER, HOLD, 403, b"", 0),
        (OWNER, HOLD, 204, b"", 1),
    ],
)
def test_an_answer_that_was_not_due_is_a_leak(actor: Actor, route: TenancyRequest, status: int, body: bytes, leaks: int) -> None:
    assert len(list(find_faults(actor, route, status, body, HOUSE))) == leaks
