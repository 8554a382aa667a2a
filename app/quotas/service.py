"""Enforce quotas: of requests per minute before a request is answered, of runs and their cost before a run begins."""

from datetime import UTC, date, datetime, time, timedelta
from math import ceil
from typing import NamedTuple
from uuid import UUID

from app.accounts.nouns.access import Principal
from app.audit import storage as audit
from app.audit.storage import Action
from app.database.engine import Executor
from app.database.tenancy import Tenant, TenantDatabase, get_tenant
from app.domain.errors import InvalidInput, NotFound, TooManyRequests
from app.domain.limits import FASTEST_PACE, Consumption, KeyQuota, Quota, UsageReport
from app.quotas.storage import quotas, rates
from app.quotas.storage.rates import TokenTaking

MINUTE = timedelta(minutes=1)
LONGEST_TIME = timedelta(days=366)
LONGEST_MONTH = timedelta(days=31)
# A guess: nobody knows when a run ends.
RETRY_AFTER = timedelta(seconds=30)


class Admission(NamedTuple):
    """A request that was let in, with the tightest limit that applied."""

    limit: int
    taken: TokenTaking


class Limits:
    """The use cases of limits. `most` is the deployment's limit of each organisation, which may set less for itself and its keys.

    Raises:
        TooManyRequests: a limit is reached; the message says which, and when there is room again.
        Unavailable: the database does not answer.
    """

    def __init__(self, tenants: TenantDatabase, trusted: Executor, most: Quota) -> None:
        self._tenants = tenants
        self._trusted = trusted
        self._most = most

    async def admit(self, principal: Principal) -> Admission | None:
        """Let a request in, or refuse it. Return None where no limit applies."""
        most = _list_paces(principal.pace.organisation, self._most.requests_per_minute)
        keys = _list_paces(principal.pace.key)
        admitted = None
        if most:
            admitted = await self._take("organisation", principal.organisation_id, min(most))
        if keys and principal.key_id is not None:
            own = await self._take("key", principal.key_id, min(keys))
            admitted = own if admitted is None or own.taken.remaining < admitted.taken.remaining else admitted
        return admitted

    async def check_run(self, database: Executor, more: int = 1) -> None:
        """Check that one more run, or `more`, may begin. `database` has the transaction open in which it is then stored."""
        await admit_run(database, get_tenant(), self._most, more=more)

    async def check_spending(self, database: Executor) -> None:
        """Check that a model may be used for something that is no run: a draft, a change of a report, a question about it.

        Only the month's quota applies, not the number of runs under way.
        """
        for whose, quota, key in await _list_limits(database, get_tenant(), self._most):
            _check_month(whose, quota, await quotas.get_used(database, key))

    async def read_quotas(self) -> tuple[Quota, tuple[KeyQuota, ...], Consumption]:
        """Return the organisation's own quota within the deployment's, its keys' quotas, and the consumption."""
        organisation = get_tenant().organisation
        found = await quotas.list_quotas(self._tenants)
        own = found.get(organisation, Quota()).capped_by(self._most)
        return own, quotas.key_quotas_of(found, organisation), await quotas.get_used(self._tenants)

    async def set_quota(self, quota: Quota, key: UUID | None) -> None:
        """Set the limits of the organisation, or of one of its keys.

        Raises:
            NotFound: the organisation has no such key.
        """
        async with self._tenants.acquire() as connection:
            if key is not None and not await quotas.is_key(connection, key):
                raise NotFound("there is no such key; it may be revoked already")
            await quotas.set_quota(connection, key or get_tenant().organisation, quota)
            limits = {name: str(value) for name, value in quota.model_dump(exclude_none=True).items()}
            await audit.record(connection, Action.LIMITS_CHANGED, key or "", limits)

    async def get_usage(self, since: date | None, until: date | None) -> UsageReport:
        """Return the consumption of runs created in these days; by default, this month.

        Raises:
            InvalidInput: the days are in the wrong order, or more than a year.
        """
        today = datetime.now(UTC).date()
        first, last = since or (until or today).replace(day=1), until or today
        if not timedelta(0) <= last - first <= LONGEST_TIME:
            raise InvalidInput("`since` must not be after `until`, nor more than a year before it")
        return UsageReport(
            since=first,
            until=last,
            total=await quotas.get_total(self._tenants, first, last),
            lines=tuple(await quotas.list_lines(self._tenants, first, last)),
            runs=tuple(await quotas.list_dearest(self._tenants, first, last)),
        )

    async def _take(self, whose: str, subject: UUID, limit: int) -> Admission:
        taken = await rates.take(self._trusted, f"requests of {whose} {subject}", MINUTE / limit, limit)
        if not taken.granted:
            raise TooManyRequests(f"this {whose} may send {limit} requests a minute; wait and try again", taken.wait)
        return Admission(limit, taken)


async def admit_run(database: Executor, who: Tenant, most: Quota, background: bool = False, more: int = 1) -> None:
    """Check that one more run of `who`, or `more`, may begin. `database` acts for them, with a transaction open.

    A run in the `background` leaves a quarter of the places to people.

    Raises:
        TooManyRequests: a limit is reached; the message says which, and when there is room again.
    """
    limits = await _list_limits(database, who, most)
    if not limits:
        return
    await quotas.enter_gate(database, who.organisation)
    for whose, quota, key in limits:
        used = await quotas.get_used(database, key)
        _check_places(whose, _leave_room(quota) if background else quota, used, more)
        _check_month(whose, quota, used)


def _list_paces(*limits: int | None) -> list[int]:
    """Return the limits of requests per minute that can be kept; a stored one may be faster than the database counts."""
    return [limit for limit in limits if limit is not None and limit <= FASTEST_PACE]


def _leave_room(quota: Quota) -> Quota:
    places = quota.concurrent_runs
    left = None if places is None else min(places, max(1, places - ceil(places / 4)))
    return quota.model_copy(update={"concurrent_runs": left})


async def _list_limits(database: Executor, who: Tenant, most: Quota) -> list[tuple[str, Quota, UUID | None]]:
    """Return the limits other than the pace of requests: whose, how much, and the key if it is a key's."""
    found = await quotas.list_quotas(database)
    limits: list[tuple[str, Quota, UUID | None]] = [("organisation", found.get(who.organisation, Quota()).capped_by(most), None)]
    if who.key is not None and who.key in found:
        limits.append(("key", found[who.key], who.key))
    return [limit for limit in limits if limit[1].model_copy(update={"requests_per_minute": None}) != Quota()]


def _check_places(whose: str, quota: Quota, used: Consumption, more: int) -> None:
    if quota.concurrent_runs is not None and used.runs + more > quota.concurrent_runs:
        said = f"{used.runs} of the {quota.concurrent_runs} runs that this {whose} may have at a time are under way"
        said += f", and this asks for {more}" if more > 1 else ""
        raise TooManyRequests(f"{said}; wait for one to end, or cancel one", RETRY_AFTER)


def _check_month(whose: str, quota: Quota, used: Consumption) -> None:
    renewed = _next_month_after(datetime.now(UTC))
    spent = (("tokens", used.tokens, quota.tokens_per_month), ("US$", used.cost_microusd, quota.cost_microusd_per_month))
    for unit, have, limit in spent:
        if limit is not None and have >= limit:
            amount = f"{limit:,} tokens" if unit == "tokens" else f"US$ {limit / 1e6:,.2f}"
            said = f"the {amount} that this {whose} may use in a month are used up"
            raise TooManyRequests(f"{said}; there is room again from {renewed.date()}", renewed - datetime.now(UTC))


def _next_month_after(now: datetime) -> datetime:
    return datetime.combine((now.date().replace(day=1) + LONGEST_MONTH).replace(day=1), time(), UTC)
