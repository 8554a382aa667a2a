"""A policy that a real vLLM samples while it is trained: the server has the trainer's weights at each step."""

import asyncio
import json
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

from tests.support.model_stub import ModelStub, serve_model_stub
from tests.training.conftest import RealVLLM
from tests.training.recipes.toy_runs import write_toy
from training.recipes.starting import train

pytestmark = pytest.mark.extra("trl")

FAST: dict[str, dict[str, Any]] = {
    "reward": {"race": True, "relevance": "judge"},
    "filter": {"least_spread": 1e-6},
    "optimizer": {"epochs": 3, "learning_rate": 0.02},
    "run": {"device": "cpu", "save_every": 99},
    "validation": {"eval_every": 2, "tasks": 2},
}


@pytest.mark.parametrize("versions_old", [0, 1])
async def test_the_server_has_the_weights_that_are_trained(tmp_path: Path, real_vllm: RealVLLM, versions_old: int) -> None:
    rollouts = {"engine": "vllm", "url": real_vllm.address, "most_versions_old": versions_old}
    async with serve_model_stub(ModelStub()) as served:
        changes = {"rollouts": rollouts, "judge": {"url": served.base_url, "model": "stub"}, **FAST}
        config = write_toy(tmp_path, "report_rl", rows=12, model={"base": str(real_vllm.weights)}, **changes)
        done = await asyncio.to_thread(train, "report_rl", config, tmp_path / "run", None, lambda _: None)
    steps = [each.values for each in done.read_metrics() if "correction/gap_max" in each.values]
    assert len(steps) == 12
    assert min(step["grad_norm"] for step in steps) > 0
    gaps = [step["correction/gap_max"] for step in steps]
    assert (min if versions_old else max)(gaps) < 1e-4
    assert not list((done.path / "served").iterdir()), "adapters are taken out again"
    assert list_models(real_vllm.address) == ["tiny"]


def list_models(address: str) -> list[str]:
    with urlopen(f"{address}/models") as answer:
        return [model["id"] for model in json.load(answer)["data"]]
