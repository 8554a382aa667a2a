"""What our trainer takes from TRL's configuration, and what it does not."""

from dataclasses import fields
from math import ceil

from datasets import Dataset
from trl import GRPOConfig

REPLACED = (
    "beta",
    "epsilon",
    "epsilon_high",
    "delta",
    "loss_type",
    "scale_rewards",
    "importance_sampling_level",
    "multi_objective_aggregation",
    "reward_weights",
    "mask_truncated_completions",
    "top_entropy_quantile",
    "entropy_coef",
    "use_adaptive_entropy",
    "off_policy_mask_threshold",
    "use_bias_correction_kl",
    "sync_ref_model",
    "use_vllm",
    "log_completions",
)
"""Options of TRL's loss, rewards and sampling. The objective, the correction and the source of groups stand in their place."""


def check_config(config: GRPOConfig) -> None:
    """Refuse a configuration that sets what has no effect.

    Raises:
        ValueError: an option in `REPLACED` is set, or there is no `max_steps`, or processes share a group.
    """
    defaults = {field.name: field.default for field in fields(GRPOConfig)}
    unread = [name for name in REPLACED if getattr(config, name) != defaults[name]]
    if unread:
        raise ValueError(f"the objective, the correction and the source set these, not the configuration: {', '.join(unread)}")
    if config.max_steps < 1:
        raise ValueError("set max_steps: the source of groups, not a data set, says what comes next")
    if config.generation_batch_size % (config.num_generations * config.world_size):
        raise ValueError(
            "each process takes whole groups: generation_batch_size over num_generations over processes is no number"
        )


def check_by_group(config: GRPOConfig) -> None:
    """Require that a generation makes one optimizer step, and each of TRL's batches is one group.

    Raises:
        ValueError: a generation is used for several steps, or a batch is not a group.
    """
    if config.num_iterations != 1 or config.steps_per_generation != config.gradient_accumulation_steps:
        raise ValueError("a generation that is used for several optimizer steps cannot be trained group by group")
    if config.per_device_train_batch_size != config.num_generations:
        raise ValueError("group by group, per_device_train_batch_size is num_generations: set rows_at_once for memory")


def make_placeholders(config: GRPOConfig) -> Dataset:
    """Return a data set that keeps TRL's loop going to the last step. The source of groups gives what is trained on."""
    period = config.steps_per_generation * config.num_iterations
    batches = ceil(config.max_steps * config.gradient_accumulation_steps / period)
    return Dataset.from_dict({"prompt": [""] * (batches * config.generation_batch_size // config.num_generations)})
