"""An estimate of the memory that training needs on a device, from the shape of the model and the longest example."""

from typing import Any

import psutil

from app.domain.errors import InvalidInput
from training.recipes.config import TINY, RecipeConfig
from training.recipes.preflight import MemoryEstimate

BYTES = {"float32": 4, "bfloat16": 2}
ADAM_BYTES = 8
"""Two moments in float32 for each trained weight."""
ACTIVATIONS_A_LAYER = 18
"""Kept values of a layer for each token and hidden unit; with checkpointing only the layer's input is kept."""


def estimate_memory(config: RecipeConfig, longest: int, rows_an_example: int = 1) -> MemoryEstimate:
    """Estimate the memory for batches of the longest example. Weights are not taken as sharded.

    TRL's fused head never holds all logits, so they take nothing.
    """
    shape = _load_shape(config)
    weights = _count_weights(shape)
    size, computed = BYTES[config.weights_dtype], BYTES[config.model.dtype]
    learned = weights if config.adapter is None else _count_adapter(shape, config.adapter.rank)
    tokens = longest * config.optimizer.batch_size * rows_an_example
    kept = 1 if config.optimizer.gradient_checkpointing else ACTIVATIONS_A_LAYER
    needed = {
        "weights": weights * size,
        **dict.fromkeys(config.weight_copies, weights * size),
        "gradients and Adam": learned * (size + ADAM_BYTES),
        "activations": tokens * shape.hidden_size * (shape.num_hidden_layers * kept + ACTIVATIONS_A_LAYER) * computed,
    }
    return MemoryEstimate(needed, _find_memory(config))


def _load_shape(config: RecipeConfig) -> Any:
    from transformers import AutoConfig

    if config.model.base == TINY:
        from training.rollouts.tiny_policy import build_tiny_tokenizer, describe_tiny_model

        return describe_tiny_model(build_tiny_tokenizer())
    try:
        return AutoConfig.from_pretrained(config.model.base, revision=config.model.revision or None)
    except (OSError, ValueError) as error:
        raise InvalidInput(f"the base model {config.model.base!r} cannot be read; name its folder: {error}") from error


def _count_weights(shape: Any) -> int:
    """Count the weights of a decoder by its shape, on a device without memory."""
    import torch
    from transformers import AutoModelForCausalLM

    with torch.device("meta"):
        return sum(each.numel() for each in AutoModelForCausalLM.from_config(shape).parameters())


def _count_adapter(shape: Any, rank: int) -> int:
    """Count an adapter's weights on all linear layers of a decoder: four of attention, three of the feed-forward part."""
    hidden, inner = shape.hidden_size, shape.intermediate_size
    return int(shape.num_hidden_layers * rank * (8 * hidden + 3 * (hidden + inner)))


def _find_memory(config: RecipeConfig) -> int:
    import torch

    if config.run.device == "auto" and torch.cuda.is_available():
        return int(torch.cuda.get_device_properties(0).total_memory)
    return int(psutil.virtual_memory().available)
