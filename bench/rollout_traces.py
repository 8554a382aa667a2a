"""The traces of `bench.rollouts`: how long the turns, tools and judge of each rollout take; and the server that generates."""

import asyncio
import heapq
import math
import random
from dataclasses import dataclass, field
from itertools import count


@dataclass(frozen=True, slots=True)
class Spread:
    """A lognormal quantity: its median, the standard deviation of its logarithm, and the most it can be."""

    median: float
    sigma: float
    most: float

    def draw(self, dice: random.Random) -> float:
        """Draw a value."""
        return min(self.most, dice.lognormvariate(math.log(self.median), self.sigma))


@dataclass(frozen=True, slots=True)
class Traffic:
    """What a rollout does: its turns, the tokens of each and of its report, and the seconds of tools, judge and training step."""

    turns: int = 20
    action_tokens: Spread = Spread(200, 0.8, 2_048)
    report_tokens: Spread = Spread(1_500, 0.4, 8_192)
    tool_s: Spread = Spread(2.0, 1.0, 45)
    judge_s: Spread = Spread(30, 0.7, 240)
    step_s: float = 120


@dataclass(frozen=True, slots=True)
class Trace:
    """One rollout: `turns` are (tokens, seconds of the turn's tools), then the report's tokens and the judge's seconds."""

    turns: tuple[tuple[float, float], ...]
    report_tokens: float
    judge_s: float


def make_trace(traffic: Traffic, seed: str) -> Trace:
    """Make the trace of one rollout; the same seed makes the same trace."""
    dice = random.Random(seed)
    turns = tuple((traffic.action_tokens.draw(dice), traffic.tool_s.draw(dice)) for _ in range(traffic.turns))
    return Trace(turns, traffic.report_tokens.draw(dice), traffic.judge_s.draw(dice))


@dataclass(frozen=True, slots=True)
class Server:
    """Some GPUs that generate. Each has slots for so many sequences, which are spread evenly over the GPUs.

    A decoding step gives each active sequence a token. It takes `weights_s` to read the weights, and `cache_s` for the cache of
    each sequence on the GPU: the more are active, the slower is each, and the more tokens come in all.
    """

    gpus: int
    slots_a_gpu: int = 8
    weights_s: float = 0.010
    cache_s: float = 0.00125

    @property
    def slots(self) -> int:
        """The most sequences at once."""
        return self.gpus * self.slots_a_gpu

    def speed_of(self, active: int) -> float:
        """Return the tokens a second of each sequence."""
        return 1 / (self.weights_s + self.cache_s * active / self.gpus)

    @property
    def capacity(self) -> float:
        """The tokens a second of all sequences when all slots are taken."""
        return self.slots * self.speed_of(self.slots)


@dataclass
class Generator:
    """A stub of the server. It counts its tokens, and the seconds in which no sequence was active."""

    server: Server
    tokens: float = 0.0
    idle_s: float = 0.0
    _slots: asyncio.Semaphore = field(init=False)
    _written: float = field(default=0.0, init=False)
    _since: float = field(default=0.0, init=False)
    _active: list[tuple[float, int, asyncio.Future[None]]] = field(default_factory=list, init=False)
    _numbers: "count[int]" = field(default_factory=count, init=False)
    _timer: asyncio.TimerHandle | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self._slots = asyncio.Semaphore(self.server.slots)

    async def generate(self, tokens: float) -> None:
        """Wait for a slot, then until so many tokens are written."""
        async with self._slots:
            self._catch_up()
            done = asyncio.get_running_loop().create_future()
            heapq.heappush(self._active, (self._written + tokens, next(self._numbers), done))
            self._set_timer()
            await done
            self.tokens += tokens

    def _catch_up(self) -> None:
        """Bring `_written`, the tokens that a sequence active from the beginning would have, up to now; end what is done."""
        now = asyncio.get_running_loop().time()
        if self._active:
            self._written += (now - self._since) * self.server.speed_of(len(self._active))
        else:
            self.idle_s += now - self._since
        self._since = now

    def _end_first(self) -> None:
        self._catch_up()
        self._written = max(self._written, self._active[0][0])
        while self._active and self._active[0][0] <= self._written:
            heapq.heappop(self._active)[2].set_result(None)
        self._set_timer()

    def _set_timer(self) -> None:
        if self._timer:
            self._timer.cancel()
        if self._active:
            left = (self._active[0][0] - self._written) / self.server.speed_of(len(self._active))
            self._timer = asyncio.get_running_loop().call_later(max(0.0, left), self._end_first)
