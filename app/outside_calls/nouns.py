"""Summarise the calls of each outside service: counts, shares, failures, and durations."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from pydantic import Field

from app.domain.options import SourceKind
from app.domain.outside_calls import CallEnding
from app.domain.query import SystemName
from app.domain.services import SERVICES, Service, ServiceKind
from app.domain.value import Value

# The outcomes of calls for their callers; all other counts are of failed attempts.
FINAL_OUTCOMES = ("answered", "kept", "joined", "failed")
ATTEMPT = "attempt_"


class Equipment(NamedTuple):
    """What an installation has to ask with: outside services by name, kinds of sources, systems, a model, a mail server.

    `model` is the name of the settings' own; empty without one.
    """

    services: frozenset[str] = frozenset()
    searchable: frozenset[SourceKind] = frozenset(SourceKind)
    systems: tuple[SystemName, ...] = tuple(SystemName)
    model: str = ""
    sends_mail: bool = False


class ToolUse(Value):
    """One service: its setting, and its calls of the last days. Times are upper edges of histogram buckets."""

    name: str
    kind: str
    title: str
    variable: str = Field(description="The environment variable that turns it on.")
    on: bool
    calls: int = 0
    share: float = Field(default=0.0, description="The share of all calls of all services.")
    kept: int = Field(default=0, description="Answered from a stored result.")
    joined: int = Field(default=0, description="Answered by an equal call that was under way.")
    failed: int = 0
    failure_rate: float = 0.0
    failed_attempts: dict[str, int] = Field(default={}, description="By kind; most are tried again, and agents never see them.")
    p50_ms: int | None = None
    p95_ms: int | None = None
    within_ms: dict[int, int] = Field(default={}, description="Histogram: calls by the upper edge of their bucket.")


def tool_uses_of(counted: Iterable[tuple[CallEnding, int]], on: frozenset[str]) -> list[ToolUse]:
    """Return the services in their order, then others that were counted (pages, tools of MCP servers) by name."""
    by_tool: defaultdict[str, list[tuple[CallEnding, int]]] = defaultdict(list)
    for ending, n in counted:
        by_tool[ending.tool].append((ending, n))
    total = sum(n for endings in by_tool.values() for ending, n in endings if ending.outcome in FINAL_OUTCOMES)
    known = {service.name for service in SERVICES}
    others = [_service_named(name) for name in sorted(by_tool.keys() - known)]
    uses = [_use_of(service, by_tool[service.name], total, service.name in on) for service in SERVICES]
    return uses + [_use_of(service, by_tool[service.name], total, on=True) for service in others]


def _service_named(name: str) -> Service:
    """Return the service for a name of no service: pages that were read, and tools of MCP servers, count under such names."""
    if name.startswith("mcp:"):
        return Service(name, ServiceKind.MCP, "mcp_servers", name.removeprefix("mcp:"))
    return Service(name, ServiceKind.PAGES, "", "pages of the web")


def _use_of(service: Service, counted: list[tuple[CallEnding, int]], total: int, on: bool) -> ToolUse:
    outcomes: Counter[str] = Counter()
    buckets: Counter[int] = Counter()
    for ending, n in counted:
        outcomes[ending.outcome] += n
        buckets[ending.within_ms] += n if ending.outcome in FINAL_OUTCOMES else 0
    calls = sum(outcomes[end] for end in FINAL_OUTCOMES)
    return ToolUse(
        name=service.name,
        kind=service.kind.value,
        title=service.title,
        variable=service.variable,
        on=on,
        calls=calls,
        share=calls / total if total else 0.0,
        kept=outcomes["kept"],
        joined=outcomes["joined"],
        failed=outcomes["failed"],
        failure_rate=outcomes["failed"] / calls if calls else 0.0,
        failed_attempts={name.removeprefix(ATTEMPT): n for name, n in sorted(outcomes.items()) if name.startswith(ATTEMPT)},
        p50_ms=_quantile_of(buckets, 0.5),
        p95_ms=_quantile_of(buckets, 0.95),
        within_ms={edge: n for edge, n in sorted(buckets.items()) if n},
    )


def _quantile_of(buckets: Mapping[int, int], share: float) -> int | None:
    """Return the upper edge of the bucket in which this share of the calls has ended."""
    wanted, reached = share * sum(buckets.values()), 0
    for edge, n in sorted(buckets.items()):
        reached += n
        if n and reached >= wanted:
            return edge
    return None
