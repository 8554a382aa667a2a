"""Types of the services that handlers take, under the names by which the composition root provides them."""

from typing import Any
from uuid import UUID

from litestar import Request
from litestar.di import NamedDependency
from litestar.exceptions import ClientException
from litestar.params import FromPath

from app.accounts.nouns.access import Principal
from app.accounts.service.accounts import Accounts
from app.asking.service.asking import Asking
from app.collections.service.collections import Collections
from app.collections.service.index_pages import Pages
from app.collections.service.suggestions import Suggestions
from app.exports.service import Exports
from app.http.part_checks import PartChecks
from app.models.service.cycles import Cycles
from app.models.service.operation import Operation
from app.models.service.scheduled_plans import ScheduledPlans
from app.models.service.standings import Standings
from app.openai.details import KeptDetails
from app.outside_calls.service import ToolUseReport
from app.preferences.service.preferences import Preferences
from app.reports.service.revisions import ReportRevisions
from app.runs.service.deletion import RunDeletion
from app.runs.service.live_events import LiveEvents
from app.runs.service.runs import Runs
from app.runs.service.steering import Steering
from app.schedules.service.schedules import Schedules, Subscriptions
from app.sharing.service import Sharing
from app.side_by_side.service.later_scores import LaterScores
from app.side_by_side.service.side_by_side import SideBySides
from app.webhooks.service.webhooks import Webhooks

RunId = FromPath[UUID]
RunsService = NamedDependency[Runs]
RevisionsService = NamedDependency[ReportRevisions]
ResponseDetailsService = NamedDependency[KeptDetails]
SharingService = NamedDependency[Sharing]
SideBySideService = NamedDependency[SideBySides]
LaterScoresService = NamedDependency[LaterScores]
DeletingService = NamedDependency[RunDeletion]
AskingService = NamedDependency[Asking]
SteeringService = NamedDependency[Steering]
LiveService = NamedDependency[LiveEvents]
ExportsService = NamedDependency[Exports]
PartsService = NamedDependency[PartChecks]
ToolUseService = NamedDependency[ToolUseReport]
PagesService = NamedDependency[Pages]
WebhooksService = NamedDependency[Webhooks]
SuggestionsService = NamedDependency[Suggestions]
CollectionsService = NamedDependency[Collections]
SchedulesService = NamedDependency[Schedules]
SubscriptionsService = NamedDependency[Subscriptions]
PreferencesService = NamedDependency[Preferences]
StandingsService = NamedDependency[Standings]
OperationService = NamedDependency[Operation]
CyclesService = NamedDependency[Cycles]
PlansService = NamedDependency[ScheduledPlans]
AccountsService = NamedDependency[Accounts]
# The caller; a public route has none.
CurrentPrincipal = NamedDependency[Principal]


class ApiRequest(Request[Any, Any, Any]):
    """A request whose body must be JSON in UTF-8; other bodies are refused with the reason."""

    async def json(self) -> Any:
        """Return the decoded body.

        Raises:
            ClientException: the body is not UTF-8, or is nested too deeply.
        """
        try:
            return await super().json()
        except UnicodeDecodeError as error:
            raise ClientException(f"the body is not valid UTF-8 ({error.reason} at byte {error.start}); send UTF-8") from error
        except RecursionError as error:
            raise ClientException("the body is nested too deeply") from error


def address_of(request: ApiRequest) -> str:
    """Return the network address of the request's sender, as far as the server knows it."""
    return request.client.host if request.client else ""


def principal_of(request: ApiRequest) -> Principal:
    """Return the principal that authentication found."""
    found: Principal = request.user
    return found
