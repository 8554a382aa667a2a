"""`rubrica tools`: list the outside services. It starts nothing; without a running API it leaves the counts out."""

from collections.abc import Sequence

from app.outside_calls.nouns import ToolUse as OwnToolUse
from app.outside_calls.nouns import tool_uses_of
from app.settings import Settings
from infra.cli.connection import open_api
from infra.cli.execute import say
from infra.local.home import Home
from infra.local.lock import read_state
from rubrica_client import service
from rubrica_client.errors import Forbidden, Unauthenticated, Unavailable, Unreachable
from rubrica_client.models import ToolUse

AnyToolUse = ToolUse | OwnToolUse


async def show_tools(settings: Settings) -> int:
    """Print one line for each service, then the calls of those that were called."""
    uses: Sequence[AnyToolUse] = await _ask_running_api(settings) or tool_uses_of([], settings.services)
    for use in uses:
        print(f"{'on ' if use.on else 'off'}  {use.name:18} {use.kind:7} {use.title:28} {_describe_switch(use)}".rstrip())
    called = [use for use in uses if use.calls]
    if called:
        print(
            f"\n{'calls of 7 days':18} {'calls':>7} {'share':>6} {'failed':>7} {'kept':>6} {'p50':>8} {'p95':>8}  failed attempts"
        )
    for use in called:
        print(_format_counts(use))
    return 0


async def _ask_running_api(settings: Settings) -> Sequence[ToolUse] | None:
    """Ask a running API about its services. Return None where none runs."""
    home = Home(settings.home)
    key = settings.api_key.get_secret_value() if settings.api_key else None
    address = settings.api_url
    if address is None and (state := read_state(home.state)):
        address, key = state.api, key or str(home.ensure_api_key())
    if address is None:
        return None
    async with open_api(address, key) as api:
        try:
            return (await api.send(service.tools())).items
        except (Unauthenticated, Forbidden, Unavailable, Unreachable) as error:
            say(f"without counts: {error}")
    return None


def _describe_switch(use: AnyToolUse) -> str:
    return "" if use.on else f"set {use.variable}"


def _format_counts(use: AnyToolUse) -> str:
    attempts = ", ".join(f"{n} {kind}" for kind, n in use.failed_attempts.items())
    times = f"{_format_limit(use.p50_ms):>8} {_format_limit(use.p95_ms):>8}"
    return f"{use.name:18} {use.calls:7} {use.share:6.1%} {use.failure_rate:7.2%} {use.kept:6} {times}  {attempts}".rstrip()


def _format_limit(edge: int | None) -> str:
    return f"≤{edge} ms" if edge else ""
