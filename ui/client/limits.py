"""What an organisation used and may use, over HTTP."""

from datetime import date, datetime

from ui.api_client import ApiClient
from ui.models import Answer, Usage


class Total(Answer):
    """Runs, tokens, and cost in millionths of a US dollar."""

    runs: int = 0
    tokens: int = 0
    cost_microusd: int = 0


class Line(Answer):
    """What a `model` or a `tool` was used for."""

    kind: str
    name: str
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_microusd: int = 0


class RunUse(Usage):
    """What a run used."""

    run_id: str
    question: str
    created_at: datetime


class UsageReport(Answer):
    """What the runs created from `since` to `until` used, both days (UTC) included."""

    since: date
    until: date
    total: Total
    lines: tuple[Line, ...] = ()
    runs: tuple[RunUse, ...] = ()


class Quota(Answer):
    """Limits; None is none. Tokens and cost (millionths of a US dollar) are those of a calendar month (UTC)."""

    requests_per_minute: int | None = None
    concurrent_runs: int | None = None
    tokens_per_month: int | None = None
    cost_microusd_per_month: int | None = None


class Quotas(Answer):
    """The organisation's limits, and what is used of them: `runs` are those under way."""

    organisation: Quota
    used: Total


def usage(api: ApiClient) -> UsageReport:
    """What was used this month."""
    return api._parse(UsageReport, api._send("GET", "/v1/usage"))


def quotas(api: ApiClient) -> Quotas:
    """The limits there are."""
    return api._parse(Quotas, api._send("GET", "/v1/quotas"))


def set_quota(api: ApiClient, quota: Quota) -> Quotas:
    """Set all limits of the organisation, within what the deployment allows."""
    return api._parse(Quotas, api._send("PUT", "/v1/quotas", body=quota.model_dump()))
