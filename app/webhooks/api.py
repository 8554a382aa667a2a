"""Routes of webhooks: an organisation's endpoints, and the state of each message to them."""

from typing import Annotated
from uuid import UUID

from litestar import Controller, Response, delete, get, patch, post
from litestar.params import FromPath, JSONBody, QueryParameter

from app.accounts.nouns.access import AccessScope
from app.http.authentication import needs
from app.http.dependencies import WebhooksService
from app.http.openapi.responses import problem_responses
from app.idempotency.api import SHOWN_ONCE
from app.webhooks.nouns import Delivery, DeliveryState, Webhook
from app.webhooks.schemas import DeliveryPage, NewWebhook, RevealedWebhook, WebhookChange, WebhookPage
from app.webhooks.service.webhooks import WebhookChanges, WebhookWithSecret

PAGE_SIZE = 20
Limit = Annotated[int, QueryParameter(ge=1, le=100, description="How many at most.")]
READ, WRITE = needs(AccessScope.WEBHOOKS_READ), needs(AccessScope.WEBHOOKS_WRITE)
WebhookId = FromPath[UUID]


class WebhooksController(Controller):
    """Routes of endpoints, their secrets, and their messages."""

    path = "/v1/webhooks"
    tags = ("webhooks",)

    @post(opt={**WRITE, **SHOWN_ONCE}, responses=problem_responses(400, 409))
    async def create_webhook(self, data: JSONBody[NewWebhook], webhooks: WebhooksService) -> Response[RevealedWebhook]:
        """Add an endpoint. Only this answer shows its secret."""
        made = await webhooks.create(data.url, data.description, data.events)
        return Response(_show_secret(made), headers={"Location": f"/v1/webhooks/{made.webhook.id}"})

    @get(opt=READ, responses=problem_responses(400))
    async def list_webhooks(
        self,
        webhooks: WebhooksService,
        limit: Limit = PAGE_SIZE,
        before: Annotated[UUID | None, QueryParameter(description="Only webhooks older than this one.")] = None,
    ) -> WebhookPage:
        """List all endpoints, newest first."""
        found = list(await webhooks.list_page(limit + 1, before))
        return WebhookPage(items=found[:limit], next=found[limit - 1].id if len(found) > limit else None)

    @get("/{webhook_id:uuid}", opt=READ, responses=problem_responses(404))
    async def show_webhook(self, webhook_id: WebhookId, webhooks: WebhooksService) -> Webhook:
        """Return one endpoint: its events, and whether it fails."""
        return await webhooks.get(webhook_id)

    @patch("/{webhook_id:uuid}", opt=WRITE, responses=problem_responses(400, 404))
    async def change_webhook(self, webhook_id: WebhookId, data: JSONBody[WebhookChange], webhooks: WebhooksService) -> Webhook:
        """Change an endpoint; `enabled` turns it off, or on again when it was turned off for failing."""
        changes = WebhookChanges(data.url, data.description, data.events, data.enabled)
        return await webhooks.change(webhook_id, changes)

    @delete("/{webhook_id:uuid}", opt=WRITE, responses=problem_responses(404))
    async def remove_webhook(self, webhook_id: WebhookId, webhooks: WebhooksService) -> None:
        """Remove an endpoint. Messages that wait are not sent."""
        await webhooks.remove(webhook_id)

    @post("/{webhook_id:uuid}/secret", status_code=200, opt={**WRITE, **SHOWN_ONCE}, responses=problem_responses(404))
    async def rotate_secret(self, webhook_id: WebhookId, webhooks: WebhooksService) -> RevealedWebhook:
        """Give an endpoint a new secret, which only this answer shows. For a day messages carry signatures by both."""
        return _show_secret(await webhooks.rotate_secret(webhook_id))

    @post("/{webhook_id:uuid}/test", status_code=202, opt=WRITE, responses=problem_responses(404, 409))
    async def send_test(self, webhook_id: WebhookId, webhooks: WebhooksService) -> Delivery:
        """Send a message of type `webhook.test`, to see that it arrives."""
        return await webhooks.send_test(webhook_id)

    @get("/{webhook_id:uuid}/deliveries", opt=READ, responses=problem_responses(400, 404))
    async def list_deliveries(
        self,
        webhook_id: WebhookId,
        webhooks: WebhooksService,
        limit: Limit = PAGE_SIZE,
        before: Annotated[UUID | None, QueryParameter(description="Only messages older than this one.")] = None,
        standing: Annotated[
            DeliveryState | None, QueryParameter(name="state", description="Only messages in this state.")
        ] = None,
    ) -> DeliveryPage:
        """List the messages to an endpoint of the last 30 days, newest first, each with the outcome of its last attempt."""
        found = list(await webhooks.list_deliveries(webhook_id, limit + 1, before, standing))
        return DeliveryPage(items=found[:limit], next=found[limit - 1].id if len(found) > limit else None)

    @post("/deliveries/{delivery_id:uuid}/replay", status_code=202, opt=WRITE, responses=problem_responses(404, 409))
    async def replay(self, delivery_id: FromPath[UUID], webhooks: WebhooksService) -> Delivery:
        """Send a message again that was delivered or has failed. Its `webhook-id` stays the same."""
        return await webhooks.replay(delivery_id)


def _show_secret(made: WebhookWithSecret) -> RevealedWebhook:
    return RevealedWebhook(webhook=made.webhook, secret=made.secret)
