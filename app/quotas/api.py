"""Routes of quotas and usage."""

from datetime import date
from typing import Annotated

from litestar import Controller, get, put
from litestar.params import JSONBody, QueryParameter

from app.accounts.nouns.access import AccessScope
from app.accounts.schemas import NewQuota, Quotas
from app.domain.limits import Quota, UsageReport
from app.http.authentication import needs
from app.http.dependencies import AccountsService
from app.http.openapi.responses import problem_responses


class LimitsController(Controller):
    """Routes of the organisation's limits and consumption."""

    path = "/v1"
    tags = ("usage",)

    @get("/quotas", opt=needs(AccessScope.ORGANISATION_READ), responses=problem_responses())
    async def quotas(self, accounts: AccountsService) -> Quotas:
        """Return the limits of the organisation and of its keys, and the present consumption."""
        own, keys, used = await accounts.limits.read_quotas()
        return Quotas(organisation=own, keys=list(keys), used=used)

    @put("/quotas", opt=needs(AccessScope.ORGANISATION_WRITE), responses=problem_responses(400, 404))
    async def set_quota(self, data: JSONBody[NewQuota], accounts: AccountsService) -> Quotas:
        """Set all limits of the organisation, or of the key `key_id`, within what the deployment allows."""
        await accounts.limits.set_quota(Quota(**data.model_dump(exclude={"key_id"})), data.key_id)
        own, keys, used = await accounts.limits.read_quotas()
        return Quotas(organisation=own, keys=list(keys), used=used)

    @get("/usage", opt=needs(AccessScope.USAGE_READ), responses=problem_responses(400))
    async def usage(
        self,
        accounts: AccountsService,
        since: Annotated[date | None, QueryParameter(description="First day (UTC); by default of this month.")] = None,
        until: Annotated[date | None, QueryParameter(description="Last day (UTC); by default today.")] = None,
    ) -> UsageReport:
        """Return the consumption of runs created in this time: by model, tool and run."""
        return await accounts.limits.get_usage(since, until)
