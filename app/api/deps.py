"""What handlers ask for, under the names the composition root provides it."""

from typing import Any
from uuid import UUID

from litestar import Request
from litestar.di import NamedDependency
from litestar.exceptions import ClientException
from litestar.params import FromPath

from app.domain.accounts import Principal
from app.services.accounts.desk import Accounts
from app.services.asking import Asking
from app.services.collections import Collections
from app.services.deleting import Deleting
from app.services.exports import Exports
from app.services.health import Parts
from app.services.later_scores import LaterScores
from app.services.live_events import LiveEvents
from app.services.pages import Pages
from app.services.preferences.opened import Preferences
from app.services.research import Research
from app.services.revising import Revising
from app.services.schedules import Schedules, Subscriptions
from app.services.sharing import Sharing
from app.services.side_by_side import SideBySides
from app.services.steering import Steering
from app.services.tool_use import ToolUseReport
from app.services.webhooks import Webhooks

RunId = FromPath[UUID]
ResearchService = NamedDependency[Research]
RevisingService = NamedDependency[Revising]
SharingService = NamedDependency[Sharing]
SideBySideService = NamedDependency[SideBySides]
LaterScoresService = NamedDependency[LaterScores]
DeletingService = NamedDependency[Deleting]
AskingService = NamedDependency[Asking]
SteeringService = NamedDependency[Steering]
LiveService = NamedDependency[LiveEvents]
ExportsService = NamedDependency[Exports]
PartsService = NamedDependency[Parts]
ToolUseService = NamedDependency[ToolUseReport]
PagesService = NamedDependency[Pages]
WebhooksService = NamedDependency[Webhooks]
CollectionsService = NamedDependency[Collections]
SchedulesService = NamedDependency[Schedules]
SubscriptionsService = NamedDependency[Subscriptions]
PreferencesService = NamedDependency[Preferences]
AccountsService = NamedDependency[Accounts]
# Who asks; a public route has none.
CurrentPrincipal = NamedDependency[Principal]


class ApiRequest(Request[Any, Any, Any]):
    """A request whose body is JSON in UTF-8, or its sender hears why it is not."""

    async def json(self) -> Any:
        """The decoded body.

        Raises:
            ClientException: it is not UTF-8, or nested beyond all sense.
        """
        try:
            return await super().json()
        except UnicodeDecodeError as error:
            raise ClientException(f"the body is not valid UTF-8 ({error.reason} at byte {error.start}); send UTF-8") from error
        except RecursionError as error:
            raise ClientException("the body is nested too deeply") from error


def address_of(request: ApiRequest) -> str:
    """The network address that the request comes from, as far as the server knows it."""
    return request.client.host if request.client else ""


def principal_of(request: ApiRequest) -> Principal:
    """Who the request's authentication found."""
    found: Principal = request.user
    return found
