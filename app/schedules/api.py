"""Routes of schedules: questions that are asked again, and the changes that each asking found."""

from datetime import datetime
from html import escape
from typing import Annotated
from uuid import UUID

from litestar import Controller, Response, delete, get, patch, post
from litestar.params import FromPath, JSONBody, QueryParameter

from app.accounts.nouns.access import AccessScope
from app.domain.query import ResearchQuery
from app.domain.schedules import Schedule
from app.http.authentication import PUBLIC, needs
from app.http.dependencies import SchedulesService, SubscriptionsService, SuggestionsService
from app.http.openapi.responses import problem_responses
from app.runs.api.suggested_sources import choose_sources
from app.schedules.schemas import FiringPage, MailDeliveryPage, NewSchedule, ScheduleChange, SchedulePage

PAGE_SIZE = 20
Limit = Annotated[int, QueryParameter(ge=1, le=100, description="How many at most.")]
Before = Annotated[UUID | None, QueryParameter(description="Only those older than this one.")]
BeforeTime = Annotated[datetime | None, QueryParameter(description="Only those before this time.")]
ScheduleId = FromPath[UUID]


class SchedulesController(Controller):
    """Routes of living reports."""

    path = "/v1/schedules"
    tags = ("schedules",)
    opt = needs(AccessScope.SCHEDULES_READ)

    @get(responses=problem_responses(400))
    async def list_schedules(self, schedules: SchedulesService, limit: Limit = PAGE_SIZE, before: Before = None) -> SchedulePage:
        """List the organisation's schedules, newest first."""
        found = await schedules.list_page(limit + 1, before)
        items = list(found[:limit])
        return SchedulePage(items=items, next=items[-1].id if len(found) > limit else None)

    @post(opt=needs(AccessScope.SCHEDULES_WRITE), responses=problem_responses(400, 409))
    async def create(
        self, data: JSONBody[NewSchedule], schedules: SchedulesService, suggestions: SuggestionsService
    ) -> Response[Schedule]:
        """Ask a question at set times. Each asking costs only what changed since the last."""
        query = await choose_sources(data.run, suggestions) if data.run else ResearchQuery(question="taken from the run")
        made = await schedules.create(data.name, query, data.timing, data.deliver_to, data.from_run)
        return Response(made, headers={"Location": f"/v1/schedules/{made.id}"})

    @get("/{schedule_id:uuid}", responses=problem_responses(404))
    async def show(self, schedule_id: ScheduleId, schedules: SchedulesService) -> Schedule:
        """Return one schedule."""
        return await schedules.get(schedule_id)

    @patch("/{schedule_id:uuid}", opt=needs(AccessScope.SCHEDULES_WRITE), responses=problem_responses(400, 404))
    async def change(self, schedule_id: ScheduleId, data: JSONBody[ScheduleChange], schedules: SchedulesService) -> Schedule:
        """Change a schedule's name, timing or recipients; pause or resume it."""
        given = data.model_copy()
        return await schedules.change(schedule_id, given.name, given.timing, given.deliver_to, given.paused)

    @delete("/{schedule_id:uuid}", opt=needs(AccessScope.SCHEDULES_WRITE), responses=problem_responses(404))
    async def remove(self, schedule_id: ScheduleId, schedules: SchedulesService) -> None:
        """Delete a schedule with its log. Its runs and their reports stay."""
        await schedules.delete(schedule_id)

    @post(
        "/{schedule_id:uuid}/trigger",
        status_code=202,
        opt=needs(AccessScope.SCHEDULES_WRITE),
        responses=problem_responses(400, 404),
    )
    async def trigger(self, schedule_id: ScheduleId, schedules: SchedulesService) -> Schedule:
        """Ask once, now."""
        await schedules.trigger(schedule_id)
        return await schedules.get(schedule_id)

    @get("/{schedule_id:uuid}/changes", responses=problem_responses(400, 404))
    async def list_changes(
        self, schedule_id: ScheduleId, schedules: SchedulesService, limit: Limit = PAGE_SIZE, before: BeforeTime = None
    ) -> FiringPage:
        """List its askings, latest first: new findings, changed findings, and old claims that no longer hold."""
        found = await schedules.list_changes(schedule_id, limit + 1, before)
        items = list(found[:limit])
        return FiringPage(items=items, next=items[-1].due_at if len(found) > limit else None)

    @get("/{schedule_id:uuid}/deliveries", responses=problem_responses(400, 404))
    async def list_deliveries(
        self, schedule_id: ScheduleId, schedules: SchedulesService, limit: Limit = PAGE_SIZE, before: Before = None
    ) -> MailDeliveryPage:
        """List the messages about it, latest first, with the outcome of their sending."""
        found = await schedules.list_deliveries(schedule_id, limit + 1, before)
        items = list(found[:limit])
        return MailDeliveryPage(items=items, next=items[-1].id if len(found) > limit else None)


# With `no-referrer`, the server's default, a browser sends the form without its origin, and is refused.
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; form-action 'self'; frame-ancestors 'none'",
    "Referrer-Policy": "same-origin",
}
HTML = "text/html"


@get(
    "/v1/unsubscribe/{letter_id:uuid}",
    opt=PUBLIC,
    security=[{}],
    media_type=HTML,
    tags=["schedules"],
    responses=problem_responses(404),
)
async def unsubscribe_page(letter_id: FromPath[UUID], subscriptions: SubscriptionsService) -> Response[bytes]:
    """Show the page of the link in a message. Opening it changes nothing: programs that check links open it, too."""
    name = escape(await subscriptions.get_schedule_name(letter_id))
    asked = f"<p>No more messages about “{name}”?</p>"
    page = f'<!doctype html><title>Rubrica</title>{asked}<form method="post"><button>Yes</button></form>'
    return Response(page.encode(), media_type=HTML, headers=HEADERS)


@post(
    "/v1/unsubscribe/{letter_id:uuid}",
    opt=PUBLIC,
    security=[{}],
    status_code=200,
    media_type=HTML,
    tags=["schedules"],
    responses=problem_responses(404),
)
async def unsubscribe(letter_id: FromPath[UUID], subscriptions: SubscriptionsService) -> Response[bytes]:
    """Stop messages to this address about this schedule (RFC 8058)."""
    await subscriptions.end(letter_id)
    page = b"<!doctype html><title>Rubrica</title><p>Done: there will be no more of these messages.</p>"
    return Response(page, media_type=HTML, headers=HEADERS)
