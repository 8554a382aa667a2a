"""Manage an organisation's endpoints, and follow its messages."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import NamedTuple
from urllib.parse import urlsplit
from uuid import UUID, uuid4

from app.audit import storage as audit
from app.audit.storage import Action
from app.database.engine import Database
from app.domain.errors import Conflict, InvalidInput, NotFound
from app.outgoing.errors import AddressRefused
from app.outgoing.targets import PORTS, check_target, find_literal
from app.webhooks import storage as webhooks
from app.webhooks.nouns import Delivery, DeliveryState, Webhook, WebhookEvent
from app.webhooks.service.delivery import Deliverer
from app.webhooks.service.signatures import new_secret

MAX_WEBHOOKS = 20


class WebhookWithSecret(NamedTuple):
    """An endpoint with its new secret, which is shown once."""

    webhook: Webhook
    secret: str


class WebhookChanges(NamedTuple):
    """A change of an endpoint; None leaves a field as it is."""

    url: str | None = None
    description: str | None = None
    events: tuple[WebhookEvent, ...] | None = None
    enabled: bool | None = None


class Webhooks:
    """The use cases around webhooks. `deliverer` sends what they queue. The audit log records changes of endpoints.

    Raises:
        NotFound: the organisation has no such endpoint or message.
        InvalidInput: nothing may be sent to this address; the message says why.
        Unavailable: the database does not answer.
    """

    def __init__(self, database: Database, deliverer: Deliverer) -> None:
        self._database = database
        self._deliverer = deliverer

    async def create(self, url: str, description: str, events: Sequence[WebhookEvent]) -> WebhookWithSecret:
        """Add an endpoint.

        Raises:
            Conflict: the organisation has the most endpoints it may have.
        """
        checked = self._check_url(url)
        if await webhooks.count(self._database) >= MAX_WEBHOOKS:
            raise Conflict(f"there are {MAX_WEBHOOKS} webhooks already; remove one first")
        secret = new_secret()
        async with self._database.acquire() as connection:
            made = await webhooks.create(connection, uuid4(), checked, description, events, secret)
            await audit.record(connection, Action.WEBHOOK_MADE, made.id, {"host": _host_of(checked)})
        return WebhookWithSecret(made, secret)

    async def list_page(self, limit: int, before: UUID | None) -> Sequence[Webhook]:
        """Return up to `limit` endpoints, newest first, older than `before`."""
        if before is not None and await webhooks.get(self._database, before) is None:
            raise InvalidInput(f"`before` names no webhook: {before}")
        return await webhooks.list_page(self._database, limit, before)

    async def get(self, webhook: UUID) -> Webhook:
        """Return an endpoint."""
        return _require_found(await webhooks.get(self._database, webhook), webhook)

    async def change(self, webhook: UUID, changes: WebhookChanges) -> Webhook:
        """Change an endpoint, or turn it off or on again."""
        url = None if changes.url is None else self._check_url(changes.url)
        async with self._database.acquire() as connection:
            changed = _require_found(await webhooks.change(connection, webhook, *changes._replace(url=url)), webhook)
            told = {"host": _host_of(changed.url), "enabled": str(changed.enabled).lower()}
            await audit.record(connection, Action.WEBHOOK_CHANGED, webhook, told)
        return changed

    async def rotate_secret(self, webhook: UUID) -> WebhookWithSecret:
        """Give an endpoint a new secret. For a day messages are signed with both."""
        secret = new_secret()
        async with self._database.acquire() as connection:
            changed = _require_found(await webhooks.rotate(connection, webhook, secret), webhook)
            await audit.record(connection, Action.WEBHOOK_SECRET_CHANGED, webhook)
        return WebhookWithSecret(changed, secret)

    async def remove(self, webhook: UUID) -> None:
        """Remove an endpoint, and all its waiting messages."""
        async with self._database.acquire() as connection:
            if not await webhooks.remove(connection, webhook):
                raise NotFound(f"there is no webhook {webhook}")
            await audit.record(connection, Action.WEBHOOK_REMOVED, webhook)

    async def send_test(self, webhook: UUID) -> Delivery:
        """Send a message of type `webhook.test`."""
        told = {"type": WebhookEvent.TEST, "timestamp": datetime.now(UTC).isoformat(), "data": {"webhook_id": str(webhook)}}
        sent = await webhooks.add_message(self._database, webhook, WebhookEvent.TEST, json.dumps(told))
        if sent is None:
            await self.get(webhook)
            raise Conflict("this webhook is turned off; enable it first")
        self._deliverer.wake()
        return sent

    async def list_deliveries(
        self, webhook: UUID, limit: int, before: UUID | None, state: DeliveryState | None
    ) -> Sequence[Delivery]:
        """Return up to `limit` messages to an endpoint, newest first, older than `before`."""
        await self.get(webhook)
        if before is not None and await webhooks.get_delivery(self._database, before) is None:
            raise InvalidInput(f"`before` names no delivery: {before}")
        return await webhooks.list_deliveries(self._database, webhook, limit, before, state)

    async def replay(self, message: UUID) -> Delivery:
        """Send a message again that was delivered or has failed, under the same `webhook-id`.

        Raises:
            Conflict: it is still being tried, or its endpoint is turned off.
        """
        replayed = await webhooks.replay(self._database, message)
        if replayed is None:
            if await webhooks.get_delivery(self._database, message) is None:
                raise NotFound(f"there is no delivery {message}")
            raise Conflict("this delivery is still being tried, or its webhook is turned off")
        self._deliverer.wake()
        return replayed

    def _check_url(self, url: str) -> str:
        """Return the checked address. Host names are judged by their form here, and by their addresses at each delivery."""
        try:
            host = find_literal(url)
            inside = host is not None and any(host in network for network in self._deliverer.networks)
            checked = check_target(url, self._deliverer.networks, frozenset(range(1, 65_536)) if inside else PORTS)
        except AddressRefused as error:
            raise InvalidInput(f"url: {error}") from error
        if checked.scheme != "https" and not inside:
            raise InvalidInput("url: refused: webhooks are sent over https only")
        return str(checked)


def _host_of(url: str) -> str:
    """Return the host without the path, which may be a secret itself."""
    return urlsplit(url).hostname or ""


def _require_found(webhook: Webhook | None, named: UUID) -> Webhook:
    if webhook is None:
        raise NotFound(f"there is no webhook {named}")
    return webhook
