"""The room of the product's steps beside the length of an answer that a recipe trains."""

from collections.abc import Iterable

from workflows.agents.steps import AnyStep


def list_caps(most_tokens: int, steps: Iterable[AnyStep]) -> list[str]:
    """Name the steps in which the policy is asked for fewer than `rollouts.most_tokens` tokens."""
    return [
        f"the step {step.name} asks for {step.max_tokens:,} tokens at most, and rollouts.most_tokens = {most_tokens:,} "
        "does not raise that"
        for step in steps
        if step.max_tokens < most_tokens
    ]
