"""The commands and servers of the story, as an operator runs them, in processes of their own."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from bench.stack import ROOT

Tell = Callable[[str], None]
RUBRICA = (sys.executable, "-m", "infra.cli")
STARTS_WITHIN_S = 900
ENDS_WITHIN_S, SAVES_WITHIN_S = 300, 20


@asynccontextmanager
async def serve(*module: str, environment: Mapping[str, str] | None = None) -> AsyncIterator[str]:
    """Run `python -m MODULE ...` while the context lasts; yield the last word of its first line, which is its address."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", *module, stdout=asyncio.subprocess.PIPE, env=_environment(environment), cwd=ROOT
    )
    assert process.stdout is not None
    try:
        async with asyncio.timeout(STARTS_WITHIN_S):
            said = (await process.stdout.readline()).decode().split()
        if not said:
            raise RuntimeError(f"{' '.join(module)} did not start")
        yield said[-1]
    finally:
        if process.returncode is None:  # Ctrl-C reaches the servers too
            process.terminate()
        async with asyncio.timeout(ENDS_WITHIN_S):
            await process.wait()


async def rubrica(home: Path, *words: str, settings: Mapping[str, str] | None = None) -> str:
    """Run a command of the product on a home, with these settings; return what it prints.

    Raises:
        RuntimeError: it ended with another code than 0.
    """
    return await run(*RUBRICA, *words, environment={"RUBRICA_HOME": str(home), **(settings or {})})


async def run(*command: str, environment: Mapping[str, str] | None = None) -> str:
    """Run a command to its end; return what it prints.

    Raises:
        RuntimeError: it ended with another code than 0.
    """
    process = await asyncio.create_subprocess_exec(
        *command,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=_environment(environment),
        cwd=ROOT,
    )
    try:
        out, err = await process.communicate()
    except asyncio.CancelledError:
        await _wait_or_end(process)
        raise
    if process.returncode:
        raise RuntimeError(f"{' '.join(command[2:])} ended with {process.returncode}: {out.decode()}{err.decode()[-2000:]}")
    return out.decode().strip()


async def _wait_or_end(process: asyncio.subprocess.Process) -> None:
    """Wait until a process has ended. Ctrl-C has mostly reached it: a trainer saves what it has, unless told twice."""
    try:
        async with asyncio.timeout(SAVES_WITHIN_S):
            await process.wait()
    except TimeoutError:
        process.terminate()
        await process.wait()


def _environment(more: Mapping[str, str] | None) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("RUBRICA_")}
    return {**kept, "PYTHONPATH": str(ROOT), **(more or {})}
