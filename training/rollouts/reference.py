"""The reference of the KL term: the policy as it was before training."""

from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from typing import Any

import torch
from peft import PeftModel
from trl.trainer.utils import add_fused_lm_head, use_adapter

SAVED_ADAPTER = "ref"


class Reference:
    """A frozen copy of the policy or, for an adapter, the policy's own weights with the adapter of before, or without any.

    TRL would load the model again by the name in its configuration, which is not the policy of SFT.
    """

    def __init__(self, frozen: torch.nn.Module | None) -> None:
        self._frozen = frozen

    def prepare(self, accelerator: Any) -> None:
        """Put the copy where the policy is."""
        if self._frozen is not None:
            self._frozen = accelerator.prepare_model(self._frozen, evaluation_mode=True)

    @contextmanager
    def lend(self, policy: Any) -> Iterator[torch.nn.Module]:
        """Give the reference for as long as it is read."""
        if self._frozen is not None:
            yield self._frozen
            return
        with use_adapter(policy, adapter_name=SAVED_ADAPTER if SAVED_ADAPTER in policy.peft_config else None):
            yield policy


def copy_reference(model: Any, peft_config: Any, temperature: float) -> Reference:
    """Return the reference of a policy that is about to be trained; `temperature` is that of its log-probabilities."""
    if peft_config is not None or isinstance(model, PeftModel):
        return Reference(None)
    frozen = deepcopy(model).eval().requires_grad_(False)
    add_fused_lm_head(frozen, temperature=temperature)
    return Reference(frozen)
