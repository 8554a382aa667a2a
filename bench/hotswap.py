"""`python -m bench.hotswap`: adapters are swapped fifty times under 32 loops of requests, and no request fails.

It starts `python -m training.serving` over a tiny random policy. A swap loads a new adapter under a name of its own, has callers
ask for it from then on, and unloads the one before. Of every ten adapters one is broken: its load has to be refused, and callers
stay where they are. A request fails if it is not answered, or not by the adapter that it asked for. `swap_s` is the median of a
swap, from its beginning until the old adapter is gone, and `longest_swap_s` the longest. The server has as much room as a swap
needs: two adapters.
"""

import argparse
import asyncio
import contextlib
import statistics
import sys
import tempfile
import time
from asyncio.subprocess import PIPE
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import aiohttp
from peft import LoraConfig, get_peft_model

from bench.result import print_result
from training.recipes.merging import ADAPTER
from training.rollouts.tiny_policy import build_tiny_model, build_tiny_tokenizer, save_tiny_policy
from training.serving.digest import digest_adapter, name_adapter

SWAPS, LOOPS = 50, 32
BROKEN_EACH = 10
TOKENS = 16
OK = 200


class Target(Protocol):
    """What callers ask for. The bench has a variable (`OneTarget`); the product's table of aliases may stand in its place."""

    def hold(self) -> AbstractAsyncContextManager[str]:
        """Give the name of the adapter to ask for, which stays loaded meanwhile."""
        ...

    async def move(self, name: str) -> None:
        """Give another name from now on, and return when nobody holds the one before."""
        ...


class OneTarget:
    """A name, and how many requests hold each."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._holders: Counter[str] = Counter()
        self._changed = asyncio.Condition()

    @asynccontextmanager
    async def hold(self) -> AsyncIterator[str]:
        """Give the name, and count who holds it."""
        name = self._name
        self._holders[name] += 1
        try:
            yield name
        finally:
            self._holders[name] -= 1
            async with self._changed:
                self._changed.notify_all()

    async def move(self, name: str) -> None:
        """Give another name, and wait for those who hold the one before."""
        before, self._name = self._name, name
        async with self._changed:
            await self._changed.wait_for(lambda: not self._holders[before])


@dataclass
class Counts:
    """What happened."""

    requests: int = 0
    failed: int = 0
    refused_loads: int = 0
    swaps_s: list[float] = field(default_factory=list)


class Server:
    """The server, as its callers see it."""

    def __init__(self, address: str, session: aiohttp.ClientSession) -> None:
        self._address, self._session = address, session

    async def answer(self, name: str) -> bool:
        """Ask an adapter, and say whether it answered."""
        messages = [{"role": "user", "content": "Why did tariffs rise?"}]
        said = await self._post("chat/completions", {"model": name, "messages": messages, "max_tokens": TOKENS})
        return said is not None and said["model"] == name and bool(said["choices"][0]["finish_reason"])

    async def load(self, name: str, folder: Path) -> bool:
        """Load an adapter, and say whether it was taken."""
        return await self._post("load_lora_adapter", {"lora_name": name, "lora_path": str(folder)}) is not None

    async def unload(self, name: str) -> None:
        """Unload an adapter."""
        if await self._post("unload_lora_adapter", {"lora_name": name}) is None:
            raise RuntimeError(f"{name} cannot be unloaded")

    async def _post(self, path: str, body: dict[str, Any]) -> Any:
        async with self._session.post(f"{self._address}/{path}", json=body) as response:
            said = await response.json() if response.content_type == "application/json" else await response.text()
            return said if response.status == OK else None


async def ask_on_and_on(server: Server, target: Target, counts: Counts) -> None:
    """Ask one request after the other."""
    while True:
        async with target.hold() as name:
            try:
                counts.failed += not await server.answer(name)
            except aiohttp.ClientError:
                counts.failed += 1
            counts.requests += 1


async def swap(server: Server, target: Target, folders: list[Path], first: str, counts: Counts) -> None:
    """Swap to one adapter after the other; stay where the load of one is refused."""
    now = first
    for version, folder in enumerate(folders, 2):
        name, began = name_adapter("writer", version, digest_adapter(folder)), time.monotonic()
        if not await server.load(name, folder):
            counts.refused_loads += 1
            continue
        await target.move(name)
        await server.unload(now)
        now = name
        counts.swaps_s.append(time.monotonic() - began)


def make_adapters(folder: Path, swaps: int) -> list[Path]:
    """Write as many adapters as there are swaps, and broken ones among them: one in ten."""
    tokenizer: Any = build_tiny_tokenizer()
    made: list[Path] = []
    while sum(not is_broken(n) for n in range(len(made))) <= swaps:
        config = LoraConfig(task_type="CAUSAL_LM", r=8, target_modules="all-linear", init_lora_weights=False)
        made.append(folder / str(len(made)))
        get_peft_model(build_tiny_model(tokenizer), config).save_pretrained(made[-1])
        if is_broken(len(made) - 1):
            weights = made[-1] / ADAPTER
            weights.write_bytes(weights.read_bytes()[:-1000])
    return made


def is_broken(number: int) -> bool:
    """Say whether the adapter of a number is a broken one."""
    return number % BROKEN_EACH == BROKEN_EACH - 1


@asynccontextmanager
async def start_server(base: Path, first: str, folder: Path) -> AsyncIterator[str]:
    """Start the server with its first adapter, and yield its address. It has to end well."""
    options = ["--port", "0", "--max-loras", "2", "--lora", f"{first}={folder}"]
    server = await asyncio.create_subprocess_exec(sys.executable, "-m", "training.serving", str(base), *options, stdout=PIPE)
    try:
        assert server.stdout is not None
        yield (await server.stdout.readline()).decode().split()[-1]
    finally:
        server.terminate()
        if await server.wait():
            raise RuntimeError(f"the server ended with {server.returncode}")


async def measure(folder: Path, swaps: int, loops: int) -> Counts:
    """Swap while the loops ask."""
    base = save_tiny_policy(folder / "base")
    initial, *others = make_adapters(folder, swaps)
    first, counts = name_adapter("writer", 1, digest_adapter(initial)), Counts()
    connector = aiohttp.TCPConnector(limit=0)
    async with start_server(base, first, initial) as address, aiohttp.ClientSession(connector=connector) as session:
        server, target = Server(address, session), OneTarget(first)
        asking = [asyncio.create_task(ask_on_and_on(server, target, counts)) for _ in range(loops)]
        await swap(server, target, others, first, counts)
        for task in asking:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
    return counts


def main() -> None:
    """Measure, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--swaps", type=int, default=SWAPS)
    parser.add_argument("--loops", type=int, default=LOOPS)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        counts = asyncio.run(measure(Path(folder), options.swaps, options.loops))
    figures = {
        "swaps": len(counts.swaps_s),
        "refused_loads": counts.refused_loads,
        "requests": counts.requests,
        "failed_requests": counts.failed,
        "swap_s": statistics.median(counts.swaps_s),
        "longest_swap_s": max(counts.swaps_s),
    }
    print_result("hotswap", figures)


if __name__ == "__main__":
    main()
