"""Logs stay short while their processes write them."""

import asyncio
import os
import sys
from datetime import timedelta
from pathlib import Path

from app.settings import Settings
from infra.local.log_file import keep_logs_short
from infra.local.process import Process, Program

OFTEN = timedelta(milliseconds=20)
WRITER = """
import time
for number in range(10**9):
    print(number, 10_000 * "x", flush=True)
    time.sleep(0.001)
"""


async def test_a_log_that_is_being_written_is_set_aside_and_few_are_kept(tmp_path: Path) -> None:
    log, short = tmp_path / "writer.log", tmp_path / "short.log"
    short.write_text("a few words\n")
    process = Process(Program("writer", [sys.executable, "-c", WRITER], log))
    said: list[str] = []
    watching = asyncio.create_task(keep_logs_short(tmp_path, Settings(log_mb=1, log_files=2), said.append, OFTEN))
    first_numbers: set[int] = set()
    while len(first_numbers) < 4:
        if numbers := _read_numbers(tmp_path / "writer.log.1"):
            first_numbers.add(numbers[0])
        await asyncio.sleep(0.02)
    watching.cancel()
    process.stop()
    assert process.read_log_tail(1).endswith("x")  # also of a log that is shorter now than when its process began
    numbers = [number for name in ("writer.log.2", "writer.log.1", "writer.log") for number in _read_numbers(tmp_path / name)]
    assert numbers == sorted(set(numbers))
    assert sorted(os.listdir(tmp_path)) == ["short.log", "writer.log", "writer.log.1", "writer.log.2"]
    assert short.read_text() == "a few words\n"
    assert said == []


async def test_a_log_that_cannot_be_set_aside_is_told_and_kept(tmp_path: Path) -> None:
    log = tmp_path / "writer.log"
    log.write_bytes(2**21 * b"x")
    (tmp_path / "writer.log.1").mkdir()
    said: list[str] = []
    watching = asyncio.create_task(keep_logs_short(tmp_path, Settings(log_mb=1, log_files=1), said.append, OFTEN))
    while not said:
        await asyncio.sleep(0.02)
    watching.cancel()
    assert "cannot be kept short" in said[0]
    assert log.stat().st_size == 2**21


def _read_numbers(log: Path) -> list[int]:
    """The numbers of the lines that begin in this file."""
    lines = log.read_text().splitlines() if log.exists() else []
    return [int(number) for number in (line.partition(" ")[0] for line in lines) if number.isdigit()]
