"""What the API says of the outside services."""

from collections.abc import AsyncIterator
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

import asyncpg
import pytest

from app.accounts.nouns.access import LOCAL_ORGANISATION
from app.accounts.service.policy import AccountPolicy
from app.domain.outside_calls import CallEnding
from app.domain.pricing import PricedModel
from app.domain.query import SystemName
from app.http.services import open_services
from app.outgoing.mail import Mailbox
from app.outside_calls.storage import OutsideCallStore
from app.setting_values import MailSecurity
from tests.app.served_api import ApiClient, InMemoryRuns, serve_api


@pytest.fixture
async def api(api_urls: tuple[str, str], workflows: InMemoryRuns) -> AsyncIterator[ApiClient]:
    async with open_services(*api_urls, workflows, frozenset({"serper"})) as services, serve_api(services) as client:
        yield client


async def test_services_tell_what_turns_them_on_and_how_their_calls_went(api: ApiClient, pool: asyncpg.Pool) -> None:
    store, run, ours = OutsideCallStore(pool), UUID(await api.ask()), LOCAL_ORGANISATION
    await store.count(
        {
            CallEnding("serper", "answered", 300, run): 6,
            CallEnding("serper", "kept", 10, ours): 1,
            CallEnding("serper", "failed", 30_000, run): 1,
        }
    )
    await store.count({CallEnding("serper", "attempt_timed_out", 10_000, run): 4, CallEnding("page", "answered", 1_000, ours): 8})
    # What others did, and what was done for nobody, is none of ours.
    await store.count({CallEnding("serper", "failed", 300): 50, CallEnding("brave", "failed", 300, uuid4()): 50})
    told: dict[str, Any] = {item["name"]: item for item in (await api.get("/v1/tools")).json["items"]}
    serper, brave = told["serper"], told["brave"]
    assert (serper["on"], serper["calls"], serper["share"], serper["failure_rate"]) == (True, 8, 0.5, 0.125)
    assert (serper["kept"], serper["failed_attempts"], serper["p50_ms"], serper["p95_ms"]) == (1, {"timed_out": 4}, 300, 30_000)
    assert serper["within_ms"] == {"10": 1, "300": 6, "30000": 1}
    assert (brave["on"], brave["variable"], brave["calls"]) == (False, "RUBRICA_BRAVE_API_KEY", 0)
    assert (told["page"]["calls"], told["page"]["kind"]) == (8, "pages")


async def test_what_there_is_to_ask_with_is_told(api: ApiClient, api_urls: tuple[str, str], workflows: InMemoryRuns) -> None:
    told = (await api.get("/v1/tools")).json
    assert (told["models"], told["sends_mail"]) == ([], False), "no model, no mail server"
    policy = AccountPolicy(
        mailbox=Mailbox("mail.example", 587, "Rubrica <r@example.org>", "https://page.example", MailSecurity.NONE)
    )
    model = PricedModel("m-1", Decimal(1), Decimal(2))
    opened = open_services(*api_urls, workflows, model=model, systems=(SystemName.REACT,), accounts_policy=policy)
    async with opened as services, serve_api(services) as client:
        told = (await client.get("/v1/tools")).json
    assert (told["models"], told["systems"], told["sends_mail"]) == (["m-1"], ["react"], True)
