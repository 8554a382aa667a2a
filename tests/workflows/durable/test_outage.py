import asyncio
import contextlib
import selectors
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from itertools import pairwise

import pytest

from app.domain.errors import ContextTooLong, ModelRefused, ModelUnavailable
from workflows.durable.outage import LONELY_FAILURES, Outage, ServerCircuit, backoff_after
from workflows.durable.policies import LONGEST_RETRY_AFTER, LONGEST_WAIT

AWAY = 7_200.0


class Halted(BaseException):
    """What a notice raises to stop waiting."""


async def patiently(_: Outage, __: timedelta) -> None:
    """A caller that never gives up."""


class Server:
    """Down until `up`; counts what reaches it."""

    def __init__(self, up: float = 0.0, reason: Callable[[], ModelUnavailable] = lambda: ModelUnavailable("down")) -> None:
        self.up_at = time.monotonic() + up
        self.reason = reason
        self.refused = 0
        self.answered = 0
        self.most_at_once = self._at_once = 0

    async def ask(self) -> str:
        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        await asyncio.sleep(0.01)
        self._at_once -= 1
        if time.monotonic() < self.up_at:
            self.refused += 1
            raise self.reason()
        self.answered += 1
        return "yes"


async def test_an_outage_is_waited_out_by_one_probe_at_a_time() -> None:
    server, circuit = Server(up=1.2), ServerCircuit(draw=lambda: 0.0)
    answers = await asyncio.gather(*(circuit.call(server.ask, patiently) for _ in range(200)))
    assert answers == ["yes"] * 200
    # All 200 were in flight together when it went down; after that only probes went out: 0.25, 0.5, 1 s apart.
    assert server.refused <= 200 + 4


class TimelessSelector(selectors.DefaultSelector):
    """Sleeps nowhere: the time that its loop would have waited is counted as `skipped` instead."""

    skipped = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        self.skipped += timeout or 0.0
        return super().select(0)


class TimelessLoop(asyncio.SelectorEventLoop):
    """A loop whose hours pass at once."""

    def __init__(self) -> None:
        self._waits = TimelessSelector()
        super().__init__(self._waits)

    def time(self) -> float:
        return super().time() + self._waits.skipped


class SkippingClock:
    """A clock whose waits pass at once, in seconds."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    async def skip(self, _: Outage, left: timedelta) -> None:
        self.now += left.total_seconds()


async def never_wait(_: Outage, __: timedelta) -> None:
    raise Halted


@pytest.fixture
def runner() -> Iterator[asyncio.Runner]:
    with asyncio.Runner(loop_factory=TimelessLoop) as runner:
        yield runner


def test_waits_double_to_a_limit_and_begin_anew_after_an_answer(runner: asyncio.Runner) -> None:
    async def outlive() -> list[float]:
        clock, asked_at = SkippingClock(), []
        circuit = ServerCircuit(clock=clock, draw=lambda: 1.0)

        async def ask() -> None:
            asked_at.append(clock.now)
            if len(asked_at) % 8:
                raise ModelUnavailable("down")

        for _ in range(2):
            await circuit.call(ask, clock.skip)
        return [after - before for before, after in pairwise(asked_at)]

    assert runner.run(outlive()) == pytest.approx([0.5, 1, 2, 4, 8, 10, 10, 0, 0.5, 1, 2, 4, 8, 10, 10])


def test_a_probe_that_hangs_holds_others_up_for_the_longest_wait_and_no_longer(runner: asyncio.Runner) -> None:
    async def outlive() -> None:
        clock, probed, ended = SkippingClock(), asyncio.Event(), asyncio.Event()
        circuit = ServerCircuit(clock=clock)

        async def fail_and_hang() -> None:
            if not circuit.failures:
                raise ModelUnavailable("down")
            probed.set()
            await ended.wait()

        async def read_clock() -> float:
            return clock.now

        hanging = asyncio.create_task(circuit.call(fail_and_hang, clock.skip))
        await probed.wait()
        probed_at = clock.now
        assert await circuit.call(read_clock, clock.skip) == pytest.approx(probed_at + LONGEST_WAIT.total_seconds())
        assert await circuit.call(read_clock, never_wait) == clock.now
        ended.set()
        await hanging

    runner.run(outlive())


def test_an_outage_of_hours_is_waited_out_and_refuses_nobody(runner: asyncio.Runner) -> None:
    async def outlive() -> tuple[list[str], int]:
        clock = asyncio.get_running_loop().time
        until, circuit, probes = clock() + AWAY, ServerCircuit(clock=clock), 0

        async def ask() -> str:
            nonlocal probes
            probes += 1
            if clock() < until:
                raise ModelUnavailable("connection refused")
            return "yes"

        return await asyncio.gather(*(circuit.call(ask, patiently) for _ in range(5))), probes

    answers, probes = runner.run(outlive())
    assert answers == ["yes"] * 5
    assert AWAY / LONGEST_WAIT.total_seconds() <= probes <= 2 * AWAY / LONGEST_WAIT.total_seconds() + 30


async def test_calls_go_straight_through_while_the_server_answers() -> None:
    server, circuit = Server(), ServerCircuit()
    await asyncio.gather(*(circuit.call(server.ask, patiently) for _ in range(50)))
    assert server.most_at_once == 50


async def test_retry_after_is_obeyed_and_does_not_hold_others_up() -> None:
    limited = Server(up=AWAY, reason=lambda: ModelUnavailable("slow down", timedelta(seconds=2)))
    fine, circuit = Server(), ServerCircuit(draw=lambda: 0.0)
    waiting = asyncio.create_task(circuit.call(limited.ask, patiently))
    while not limited.refused:
        await asyncio.sleep(0.01)
    limited.up_at = refused_at = time.monotonic()
    await circuit.call(fine.ask, never_wait)
    assert not waiting.done()
    await waiting
    assert time.monotonic() - refused_at >= 1.9
    assert limited.refused == 1


@pytest.mark.parametrize(("wished", "least"), [(timedelta(minutes=1), timedelta(minutes=1)), (timedelta(1), LONGEST_RETRY_AFTER)])
def test_no_call_comes_before_the_time_that_the_server_names_and_not_all_come_at_once(
    runner: asyncio.Runner, wished: timedelta, least: timedelta
) -> None:
    async def ask_twice(draw: float) -> float:
        clock, asked_at = SkippingClock(), []

        async def ask() -> None:
            asked_at.append(clock.now)
            if len(asked_at) == 1:
                raise ModelUnavailable("slow down", wished)

        await ServerCircuit(clock=clock, draw=lambda: draw).call(ask, clock.skip)
        return asked_at[1]

    early, late = (runner.run(ask_twice(draw)) for draw in (0.0, 0.9))
    assert least.total_seconds() < early < late < least.total_seconds() + 1


async def test_a_caller_that_is_told_to_stop_stops_waiting() -> None:
    with pytest.raises(Halted):
        await ServerCircuit().call(Server(up=AWAY).ask, never_wait)


async def test_the_notice_says_why_and_how_long() -> None:
    server, told = Server(up=AWAY), list[tuple[str, timedelta]]()

    async def note(reason: Outage, left: timedelta) -> None:
        told.append((str(reason), left))
        server.up_at = 0.0

    await ServerCircuit(draw=lambda: 0.0).call(server.ask, note)
    assert told[0][0] == "down"
    assert timedelta(0) < told[0][1] <= timedelta(milliseconds=250)


async def test_a_request_that_fails_while_others_are_answered_is_refused_in_the_end() -> None:
    now = [0.0]
    circuit = ServerCircuit(clock=lambda: now[0])
    fine = Server()

    async def poisoned() -> str:
        raise ModelUnavailable("always times out")

    async def skip(_: Outage, left: timedelta) -> None:
        now[0] += left.total_seconds()
        await circuit.call(fine.ask, patiently)

    with pytest.raises(ModelRefused, match=f"failed {LONELY_FAILURES + 1} times .*: always times out"):
        await circuit.call(poisoned, skip)
    assert fine.answered >= LONELY_FAILURES - 1


def test_backoff_grows_to_a_limit_with_jitter() -> None:
    longest = [backoff_after(n, lambda: 1.0).total_seconds() for n in range(1, 10)]
    assert longest[:4] == [0.5, 1.0, 2.0, 4.0]
    assert longest[-1] == LONGEST_WAIT.total_seconds()
    assert backoff_after(3, lambda: 0.0) == backoff_after(3, lambda: 1.0) / 2


async def test_a_refusal_is_an_answer_that_ends_an_outage() -> None:
    async def refused() -> str:
        raise ModelRefused("this request is malformed")

    server, circuit = Server(), ServerCircuit(draw=lambda: 0.0)
    circuit.failures = 3
    with pytest.raises(ModelRefused, match="malformed"):
        await circuit.call(refused, patiently)
    assert circuit.failures == 0
    assert await circuit.call(server.ask, patiently) == "yes"


async def test_refusals_are_counted_since_the_last_answer_but_for_a_request_that_is_too_long() -> None:
    async def refused() -> str:
        raise ModelRefused("wrong key")

    async def too_long() -> str:
        raise ContextTooLong("too many tokens")

    server, circuit, counted = Server(), ServerCircuit(), []
    for ask in (refused, too_long, refused, server.ask, too_long, refused):
        with contextlib.suppress(ModelRefused):
            await circuit.call(ask, patiently)
        counted.append(circuit.refusals)
    assert counted == [1, 1, 2, 0, 0, 1]
