"""A tiny policy with random adapters, served over a socket, and what asks such a server, ours or vLLM."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import orjson
import torch
from peft import LoraConfig, PeftModel, get_peft_model
from transformers import AutoModelForCausalLM

from training.rollouts.tiny_policy import save_tiny_policy
from training.serving.server import ServingOptions, open_server

BASE = "tiny"
QUESTION = ({"role": "system", "content": "You search."}, {"role": "user", "content": "Why did tariffs rise?"})


def save_adapter(folder: Path, base: Path, seed: int, **config: Any) -> Path:
    """Write a random adapter of a base that changes its answers. Return its folder."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        section = LoraConfig(task_type="CAUSAL_LM", r=4, target_modules="all-linear", init_lora_weights=False, **config)
        get_peft_model(AutoModelForCausalLM.from_pretrained(base), section).save_pretrained(folder)
    return folder


def break_adapter(folder: Path) -> Path:
    """Cut the weights of an adapter off."""
    weights = folder / "adapter_model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-100])
    return folder


def save_small_models(folder: Path, adapters: int) -> tuple[Path, list[Path]]:
    """Write a base, and adapters of it."""
    base = save_tiny_policy(folder / BASE)
    return base, [save_adapter(folder / f"adapter{n}", base, n) for n in range(adapters)]


@torch.no_grad()
def score(base: Path, adapter: Path | None, ids: Sequence[int], after: int) -> list[float]:
    """Return the log-probabilities of the ids after the first ones, by a forward pass in float32."""
    model: Any = AutoModelForCausalLM.from_pretrained(base)
    model = PeftModel.from_pretrained(model, adapter) if adapter else model
    spread = model.eval()(torch.tensor([list(ids)])).logits[0, :-1].log_softmax(-1)
    return [spread[n, id_].item() for n, id_ in enumerate(ids[1:])][after - 1 :]


class Caller:
    """Asks a server, and returns statuses with what was said."""

    def __init__(self, address: str, session: aiohttp.ClientSession) -> None:
        self.address = address
        self.session = session

    async def post(self, path: str, content: Any, headers: dict[str, str] | None = None) -> tuple[int, Any]:
        raw = content if isinstance(content, bytes) else orjson.dumps(content)
        sent = {"Content-Type": "application/json", **(headers or {})}
        async with self.session.post(f"{self.address}/{path}", data=raw, headers=sent) as response:
            said = await response.read()
            return response.status, orjson.loads(said) if said[:1] == b"{" else said.decode()

    async def ask(self, model: str = BASE, **asked: Any) -> Any:
        """Ask for an answer, which has to come."""
        status, said = await self.post("chat/completions", make_request(model, **asked))
        assert status == 200, said
        return said

    async def stream(self, model: str = BASE, begun: asyncio.Event | None = None, **asked: Any) -> list[Any]:
        """Ask for a stream; return its events, the last of them `[DONE]`. `begun` is set when the first one is here."""
        options = {"stream": True, "stream_options": {"include_usage": True}}
        raw = orjson.dumps(make_request(model, **options, **asked))
        headers = {"Content-Type": "application/json"}
        async with self.session.post(f"{self.address}/chat/completions", data=raw, headers=headers) as response:
            assert response.status == 200
            said = await response.content.readline()
            if begun:
                begun.set()
            lines = (said + await response.read()).decode().splitlines()
        events = [line[6:] for line in lines if line.startswith("data: ")]
        return [event if event == "[DONE]" else orjson.loads(event) for event in events]

    async def load(self, name: str, folder: Path) -> tuple[int, Any]:
        return await self.post("load_lora_adapter", {"lora_name": name, "lora_path": str(folder)})

    async def unload(self, name: str) -> tuple[int, Any]:
        return await self.post("unload_lora_adapter", {"lora_name": name})

    async def list_models(self) -> dict[str, Any]:
        async with self.session.get(f"{self.address}/models") as response:
            return {model["id"]: model for model in (await response.json())["data"]}


def make_request(model: str, **asked: Any) -> dict[str, Any]:
    """Make a short greedy request, but for what is asked otherwise."""
    return {"model": model, "messages": QUESTION, "max_tokens": 8, "temperature": 0, **asked}


def join_text(events: Iterable[Any]) -> str:
    """Join the text of a stream."""
    choices = [event["choices"][0] for event in events if event != "[DONE]" and event["choices"]]
    return "".join(choice["delta"].get("content") or "" for choice in choices)


@asynccontextmanager
async def open_caller(base: Path, **options: Any) -> AsyncIterator[Caller]:
    """Serve a base, and open a caller of it."""
    async with open_server(ServingOptions(base, BASE, **options)) as address, aiohttp.ClientSession() as session:
        yield Caller(address, session)
