"""The memory that a run says it needs: every copy of the weights, in the type that it has."""

from typing import Any

import pytest

pytest.importorskip("trl", reason="training needs what `make setup-train` installs")

from tests.training.recipes.small_policies import make_config
from training.recipes.memory import estimate_memory
from training.rollouts.tiny_policy import build_tiny_model, build_tiny_tokenizer

pytestmark = pytest.mark.extra("trl")

WEIGHTS = sum(each.numel() for each in build_tiny_model(build_tiny_tokenizer()).parameters())
BFLOAT16, KL = {"dtype": "bfloat16"}, {"name": "mean_only_kl", "kl_weight": 0.1}
ADAPTER: dict[str, Any] = {"adapter": {"rank": 2}, "model": BFLOAT16}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, {"weights": 4}),
        ({"model": BFLOAT16}, {"weights": 4}),
        ({"rollouts": {"most_versions_old": 1}, "objective": KL}, {"weights": 4, "sampled copy": 4, "reference": 4}),
        ({**ADAPTER, "objective": KL}, {"weights": 2}),
        ({**ADAPTER, "rollouts": {"most_versions_old": 1}}, {"weights": 2, "sampled copy": 2}),
        ({**ADAPTER, "rollouts": {"most_versions_old": 1, "engine": "vllm"}}, {"weights": 2}),
    ],
    ids=["float32", "bfloat16", "all copies", "the base is the reference", "an adapter's copy", "vLLM samples"],
)
def test_each_copy_of_the_weights_is_counted_and_no_logits(changes: dict[str, Any], expected: dict[str, int]) -> None:
    needed = dict(estimate_memory(make_config(**changes), 64).needed)
    learned, _ = needed.pop("gradients and Adam"), needed.pop("activations")
    assert needed == {name: size * WEIGHTS for name, size in expected.items()}
    assert (learned == 12 * WEIGHTS) == ("adapter" not in changes)
