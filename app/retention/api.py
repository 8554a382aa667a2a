"""Routes of the retention of an organisation's data."""

from litestar import Controller, get, put
from litestar.params import JSONBody

from app.accounts.nouns.access import AccessScope
from app.accounts.schemas import NewRetention
from app.http.authentication import needs
from app.http.dependencies import AccountsService
from app.http.openapi.responses import problem_responses
from app.retention.nouns import Retention


class RetentionController(Controller):
    """Days after which runs, their events, tool results, and feedback are deleted."""

    path = "/v1/retention"
    tags = ("usage",)

    @get(opt=needs(AccessScope.ORGANISATION_READ), responses=problem_responses())
    async def show_retention(self, accounts: AccountsService) -> Retention:
        """Return how long data is kept; null means for good."""
        return await accounts.retention.read()

    @put(opt=needs(AccessScope.ORGANISATION_WRITE), responses=problem_responses(400))
    async def set_retention(self, data: JSONBody[NewRetention], accounts: AccountsService) -> Retention:
        """Set how long all data is kept. Data that is older is deleted for good, within the hour."""
        return await accounts.retention.set(Retention(**data.model_dump()))
