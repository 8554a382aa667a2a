"""A real vLLM that all tests of training share."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.support.real_vllm import PYTHON, start_vllm


class RealVLLM(NamedTuple):
    """A server of the tiny policy, under the name `tiny`: its address, and the folder of the weights."""

    address: str
    weights: Path


@pytest.fixture(scope="session")
def real_vllm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealVLLM]:
    """Start a vLLM, where there is one."""
    if not PYTHON:
        pytest.skip("VLLM_PYTHON names no Python that has vLLM (docs/training.md)")
    from training.rollouts.tiny_policy import save_tiny_policy

    folder = tmp_path_factory.mktemp("vllm")
    weights = save_tiny_policy(folder / "tiny")
    with start_vllm(weights, "tiny", folder / "log") as address:
        yield RealVLLM(address, weights)
