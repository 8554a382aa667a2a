"""Faults of a model server on demand: named for the next calls, or at a rate over all calls."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Fault(StrEnum):
    """A way not to answer properly."""

    RATE_LIMITED = "rate_limited"
    SERVER_ERROR = "server_error"
    UNAUTHORIZED = "unauthorized"
    BAD_REQUEST = "bad_request"
    WITHHELD = "withheld"
    NOT_FOUND = "not_found"
    NO_MODEL = "no_model"
    NO_CREDIT = "no_credit"
    TOO_LONG = "too_long"
    HANG = "hang"
    STALL = "stall"
    RESET = "reset"
    HTML = "html"
    INVALID_JSON = "invalid_json"
    HALF_STREAM = "half_stream"
    WRONG_SCHEMA = "wrong_schema"
    PROSE = "prose"
    CUT_OFF = "cut_off"
    DRIP = "drip"


@dataclass(slots=True)
class OrderedFault:
    """A fault for the next `times` calls, of one step (schema name) or of any."""

    kind: Fault
    step: str = ""
    times: int = 1


@dataclass(slots=True)
class Faults:
    """The faults of calls. Rates are shares of all calls; the draw depends on the request, its attempt and the seed only."""

    rates: dict[Fault, float] = field(default_factory=dict)
    ordered: list[OrderedFault] = field(default_factory=list)
    retry_after_s: float = 1.0
    seed: int = 0
    _attempts: dict[str, int] = field(default_factory=dict)

    def order(self, kind: Fault, step: str = "", times: int = 1) -> None:
        """Let the next `times` calls of `step` (of any step when empty) go wrong."""
        self.ordered.append(OrderedFault(kind, step, times))

    def draw(self, body: str, step: str) -> Fault | None:
        """Return the fault of this call, if any. The next attempt of the same request draws anew."""
        for order in self.ordered:
            if order.times > 0 and order.step in ("", step):
                order.times -= 1
                return order.kind
        return self._draw_by_rate(body) if self.rates else None

    def _draw_by_rate(self, body: str) -> Fault | None:
        attempt = self._attempts[body] = self._attempts.get(body, 0) + 1
        drawn = int.from_bytes(hashlib.sha256(f"{self.seed}/{body}/{attempt}".encode()).digest()[:8]) / 2**64
        for kind, rate in self.rates.items():
            if drawn < rate:
                return kind
            drawn -= rate
        return None


def parse_rates(given: Iterable[str] | Mapping[str, float]) -> dict[Fault, float]:
    """Read rates from `kind=share` words or a mapping. Raises ValueError on an unknown kind or a share outside 0..1."""
    pairs = given.items() if isinstance(given, Mapping) else (word.partition("=")[::2] for word in given)
    rates = {Fault(kind): float(share) for kind, share in pairs}
    if any(not 0 <= rate <= 1 for rate in rates.values()) or sum(rates.values()) > 1:
        raise ValueError("fault rates are shares of all calls: each between 0 and 1, together at most 1")
    return rates
