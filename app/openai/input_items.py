"""The route of what a response was asked with."""

from collections.abc import Iterable
from typing import Annotated, Literal

import orjson
from litestar import Controller, get
from litestar.params import FromPath, QueryParameter

from app.accounts.nouns.access import AccessScope
from app.domain.run import EventType
from app.http.authentication import needs
from app.http.dependencies import ResponseDetailsService, RevisionsService, RunsService
from app.openai.conversation import EARLIER
from app.openai.errors import error_responses
from app.openai.follow_ups import FollowUpQuestion, find_follow_up
from app.openai.ids import parse_response_id
from app.openai.objects import InputItem, InputItemList, InputText
from app.runs.storage.events import LoggedEvent

# Instructions and earlier messages are stored as notes, right after the run itself.
NOTES_AFTER, NOTES = 1, 2
Limit = Annotated[int, QueryParameter(ge=1, le=100)]
Order = Annotated[Literal["asc", "desc"], QueryParameter(description="`desc`: the question first.")]
After = Annotated[str | None, QueryParameter(description="Only what stands behind the item of this id.")]


class InputItemsController(Controller):
    """What a response was asked with."""

    path = "/openai/v1/responses"
    tags = ("openai",)

    @get("/{response_id:str}/input_items", responses=error_responses(404), opt=needs(AccessScope.RUNS_READ))
    async def list_input(
        self,
        response_id: FromPath[str],
        runs: RunsService,
        revisions: RevisionsService,
        response_details: ResponseDetailsService,
        limit: Limit = 20,
        order: Order = "desc",
        after: After = None,
    ) -> InputItemList:
        """List what the response was asked with: its question, and the earlier messages as the agents read them."""
        asked_for = parse_response_id(response_id)
        await response_details.get(asked_for)
        found = await find_follow_up(runs, revisions, asked_for)
        if isinstance(found, FollowUpQuestion):
            items = [_make_item(f"msg_in_{asked_for.hex}", "user", found.task.request.text)]
        else:
            earlier = _find_history(await runs.read_events(found.id, NOTES_AFTER, NOTES))
            items = [_make_item(f"msg_before_{asked_for.hex}", "developer", earlier)] if earlier else []
            items.append(_make_item(f"msg_in_{asked_for.hex}", "user", found.query.question))
        return _make_page(items if order == "asc" else items[::-1], limit, after)


def _make_item(name: str, role: Literal["user", "developer"], text: str) -> InputItem:
    return InputItem(id=name, role=role, content=[InputText(text=text)])


def _find_history(log: Iterable[LoggedEvent]) -> str:
    notes = (orjson.loads(event.body)["payload"]["text"] for event in log if event.type == EventType.NOTE_ADDED)
    return next((note for note in notes if note.startswith(EARLIER)), "")


def _make_page(items: list[InputItem], limit: int, after: str | None) -> InputItemList:
    ids = [item.id for item in items]
    rest = items[ids.index(after) + 1 :] if after in ids else items
    page = rest[:limit]
    return InputItemList(
        data=page,
        first_id=page[0].id if page else None,
        last_id=page[-1].id if page else None,
        has_more=len(rest) > len(page),
    )
