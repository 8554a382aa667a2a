"""A client of Rubrica's HTTP API: `runs`, `reports` and their like make requests, `Client` and `AsyncClient` send them."""

from rubrica_client import (
    accounts,
    asking,
    cycles,
    documents,
    errors,
    models,
    organisation,
    preferences,
    registry,
    reports,
    runs,
    schedules,
    service,
    webhooks,
)
from rubrica_client.async_client import AsyncClient
from rubrica_client.client import Client
from rubrica_client.errors import ApiError
from rubrica_client.models import NewRun
from rubrica_client.patience import Patience

__all__ = [
    "ApiError",
    "AsyncClient",
    "Client",
    "NewRun",
    "Patience",
    "accounts",
    "asking",
    "cycles",
    "documents",
    "errors",
    "models",
    "organisation",
    "preferences",
    "registry",
    "reports",
    "runs",
    "schedules",
    "service",
    "webhooks",
]
