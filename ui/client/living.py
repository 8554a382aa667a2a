"""Own documents and schedules over HTTP."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from ui.api_client import ApiClient
from ui.models import Answer, Run


class Access(Answer):
    """Who may use a collection."""

    everyone: bool = True
    users: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()


class Collection(Answer):
    """A collection of own documents. Runs name it by its `name`."""

    id: str
    name: str
    access: Access = Access()
    documents: int = 0
    bytes: int = 0
    created_at: datetime


class OwnDocument(Answer):
    """A document; `state` is `received`, `parsed`, `indexed`, `failed` or `deleting`, and `detail` says why."""

    id: str
    name: str
    bytes: int
    state: str
    detail: str = ""
    characters: int = 0
    received_at: datetime


class CollectionPage(Answer):
    """Collections, newest first; `next` brings the following page."""

    items: tuple[Collection, ...]
    next: str | None = None


class DocumentPage(Answer):
    """Documents, newest first; `next` brings the following page."""

    items: tuple[OwnDocument, ...]
    next: str | None = None


class RefusedFile(Answer):
    """A file that was not taken, and why."""

    name: str
    reason: str


class ReceivedFiles(Answer):
    """What was taken, and what was not."""

    items: tuple[OwnDocument, ...]
    refused: tuple[RefusedFile, ...] = ()


class Timing(Answer):
    """When a question is asked again: five fields of cron in a time zone."""

    cron: str
    time_zone: str = "UTC"
    jitter_s: int = 60
    overlap: str = "skip"


class Schedule(Answer):
    """A question with its timing."""

    id: str
    name: str
    query: Mapping[str, Any]
    timing: Timing
    deliver_to: tuple[str, ...] = ()
    paused: bool = False
    detail: str = ""
    next_at: datetime | None = None


class Shown(Answer):
    """Words of a source."""

    title: str
    url: str
    text: str


class PassageChange(Answer):
    """A cited passage that its source no longer has, and what stands there instead."""

    before: Shown
    after: Shown | None = None


class FallenClaim(Answer):
    """An old claim that no longer holds; `why` is `opposed`, `changed` or `gone`."""

    claim: str
    why: str
    support: str
    before: tuple[Shown, ...] = ()
    after: tuple[Shown, ...] = ()


class NewClaim(Answer):
    """A claim that rests on evidence which the old report did not have."""

    claim: str
    quotes: tuple[Shown, ...] = ()


class Changes(Answer):
    """What an asking found changed."""

    new_sources: tuple[Shown, ...] = ()
    vanished_sources: tuple[Shown, ...] = ()
    passages: tuple[PassageChange, ...] = ()
    fallen: tuple[FallenClaim, ...] = ()
    new_claims: tuple[NewClaim, ...] = ()


class Firing(Answer):
    """One asking; `outcome` is `running`, `first`, `unchanged`, `changed`, `failed` or `skipped`."""

    due_at: datetime
    outcome: str
    detail: str = ""
    run_id: str | None = None
    baseline_id: str | None = None
    changes: Changes = Changes()
    repeated_calls: int = 0


class SchedulePage(Answer):
    """Schedules, newest first; `next` brings the following page."""

    items: tuple[Schedule, ...]
    next: str | None = None


class FiringPage(Answer):
    """Askings, latest first; `next` brings the following page."""

    items: tuple[Firing, ...]
    next: datetime | None = None


def collections(api: ApiClient, before: str | None = None, limit: int = 20) -> CollectionPage:
    """The collections one may use."""
    query = {"limit": str(limit)} | ({"before": before} if before else {})
    return api._parse(CollectionPage, api._send("GET", "/v1/collections", query=query))


def collection(api: ApiClient, id_: str) -> Collection:
    """One collection."""
    return api._parse(Collection, api._send("GET", f"/v1/collections/{id_}"))


def create_collection(api: ApiClient, name: str) -> Collection:
    """A new collection, open to the organisation."""
    return api._parse(Collection, api._send("POST", "/v1/collections", body={"name": name}))


def set_access(api: ApiClient, collection: str, access: Access) -> Collection:
    """Say who may use it."""
    return api._parse(Collection, api._send("PUT", f"/v1/collections/{collection}/access", body=access.model_dump(mode="json")))


def documents(api: ApiClient, collection: str, before: str | None = None) -> DocumentPage:
    """Its documents, with how far each is."""
    path = f"/v1/collections/{collection}/documents"
    return api._parse(DocumentPage, api._send("GET", path, query={"before": before} if before else None))


def upload(api: ApiClient, collection: str, files: Sequence[tuple[str, bytes]]) -> ReceivedFiles:
    """Send files, each a name and its content."""
    parts = [("file", (name, content)) for name, content in files]
    return api._parse(ReceivedFiles, api._send("POST", f"/v1/collections/{collection}/documents", files=parts))


def remove(api: ApiClient, collection: str, document: str | None = None) -> None:
    """Delete a collection, or one document of it."""
    api._send("DELETE", f"/v1/collections/{collection}/documents/{document}" if document else f"/v1/collections/{collection}")


def schedules(api: ApiClient, before: str | None = None) -> SchedulePage:
    """The schedules."""
    return api._parse(SchedulePage, api._send("GET", "/v1/schedules", query={"before": before} if before else None))


def schedule(api: ApiClient, id_: str) -> Schedule:
    """One schedule."""
    return api._parse(Schedule, api._send("GET", f"/v1/schedules/{id_}"))


def repeat_run(api: ApiClient, run: Run, name: str, timing: Timing, deliver_to: Sequence[str] = ()) -> Schedule:
    """Ask a finished run's question again at set times."""
    body = {"name": name, "from_run": run.id, "timing": timing.model_dump(), "deliver_to": list(deliver_to)}
    return api._parse(Schedule, api._send("POST", "/v1/schedules", body=body))


def change_schedule(api: ApiClient, schedule: str, **changed: Any) -> Schedule:
    """Change `name`, `timing` (as a mapping), `deliver_to` or `paused`."""
    return api._parse(Schedule, api._send("PATCH", f"/v1/schedules/{schedule}", body=changed))


def trigger(api: ApiClient, schedule: str) -> None:
    """Ask once, now."""
    api._send("POST", f"/v1/schedules/{schedule}/trigger")


def remove_schedule(api: ApiClient, schedule: str) -> None:
    """Delete a schedule; its runs stay."""
    api._send("DELETE", f"/v1/schedules/{schedule}")


def changes(api: ApiClient, schedule: str, before: datetime | None = None) -> FiringPage:
    """What each asking found changed, latest first."""
    query = {"before": before.isoformat()} if before else None
    return api._parse(FiringPage, api._send("GET", f"/v1/schedules/{schedule}/changes", query=query))
