"""The clock and the generator under the collector's benchmark."""

import asyncio

import pytest

from bench.rollout_traces import Generator, Server, Traffic, make_trace
from bench.virtual_time import run_virtually


def test_sequences_share_the_gpus() -> None:
    async def generate(sequences: int) -> tuple[float, float]:
        generator = Generator(Server(gpus=1))
        await asyncio.sleep(2)
        await asyncio.gather(*(generator.generate(50) for _ in range(sequences)))
        return asyncio.get_running_loop().time() - 2, generator.idle_s

    assert run_virtually(generate(8)) == (pytest.approx(50 * 0.020), pytest.approx(2))
    assert run_virtually(generate(1))[0] == pytest.approx(50 * 0.01125)
    assert run_virtually(generate(16))[0] == pytest.approx(2 * 50 * 0.020)


def test_everybody_waiting_for_somebody_else_is_an_error() -> None:
    with pytest.raises(RuntimeError, match="nothing is left"):
        run_virtually(asyncio.Event().wait())


def test_the_same_seed_makes_the_same_trace() -> None:
    assert make_trace(Traffic(), "1") == make_trace(Traffic(), "1") != make_trace(Traffic(), "2")
