"""Where rollouts are sampled: in this process, from the weights that are trained or a copy of them, or behind vLLM."""

import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, AbstractContextManager, asynccontextmanager, contextmanager, nullcontext
from copy import deepcopy
from typing import Any, Protocol, TypeAlias

import torch
from peft import PeftModel

from training.recipes.reinforcement.config import RolloutsSection
from training.rollouts.chat_template import ChatTemplate
from training.rollouts.engine import Engine, SamplingSettings
from training.rollouts.sampler import Sampler
from training.rollouts.transformers_engine import TransformersEngine
from workflows.agents.ports import ChatModel

Autocast: TypeAlias = Callable[[], AbstractContextManager[Any]]
OpenPolicy: TypeAlias = Callable[[int], ChatModel]
"""Makes the policy as one rollout asks it, from the seed of its draw."""
NAME = "policy"


class PolicySource(Protocol):
    """Holds the weights that rollouts are sampled from."""

    def give_weights(self, version: int) -> None:
        """Take over the trainer's weights, as this version. The trainer's thread calls it."""
        ...

    def open_engine(self) -> AbstractAsyncContextManager[Engine]:
        """Open the engine of the collector, in its thread, with the weights that were given last."""
        ...

    def open_validator(self) -> AbstractAsyncContextManager[Engine]:
        """Open an engine over the trainer's weights as they are now, for the trainer's thread."""
        ...


class OwnWeights:
    """The policy in this process.

    With `copies` false the very weights that are trained are sampled from: nothing may be sampled while the trainer steps. Else
    it is a copy, which gets new weights between two batches of `generate`, and computes within `autocast`, as the trainer does.
    """

    def __init__(
        self, borrow_trained: Callable[[], Any], rows: int, pad_id: int, copies: bool, autocast: Autocast = nullcontext
    ) -> None:
        self._borrow_trained, self._rows, self._pad_id, self._copies = borrow_trained, rows, pad_id, copies
        self._autocast = autocast if copies else nullcontext
        self._lock = threading.Lock()
        self._sampled: Any = None
        self._engine = TransformersEngine(NAME, self._borrow, pad_id=pad_id, rows=rows)

    def give_weights(self, version: int) -> None:
        """Take over the weights, and wait for a batch that is being sampled."""
        with self._lock:
            trained = self._borrow_trained()
            if not self._copies:
                self._sampled = trained
            elif self._sampled is None:
                self._sampled = copy_policy(trained)
            else:
                copy_trained(trained, self._sampled)
            self._engine.policy_version = version

    @asynccontextmanager
    async def open_engine(self) -> AsyncIterator[Engine]:
        """Open the engine of the collector."""
        yield self._engine

    @asynccontextmanager
    async def open_validator(self) -> AsyncIterator[Engine]:
        """Open an engine over the trained weights."""
        yield TransformersEngine(NAME, self._borrow_for_validation, pad_id=self._pad_id, rows=self._rows)

    @contextmanager
    def _borrow(self) -> Iterator[Any]:
        with self._lock, self._autocast():
            yield self._sampled

    @contextmanager
    def _borrow_for_validation(self) -> Iterator[Any]:
        yield self._borrow_trained()


def copy_policy(trained: Any) -> Any:
    """Return a copy that computes with its own weights.

    TRL and accelerate give a model a `forward` of its own that holds on to that very model, and a copy would ask it.
    """
    copied = deepcopy(trained).requires_grad_(False)
    for model in (copied, copied.get_base_model() if isinstance(copied, PeftModel) else copied):
        model.__dict__.pop("forward", None)
    return copied


def copy_trained(trained: Any, sampled: Any) -> None:
    """Copy all weights that have a gradient."""
    with torch.no_grad():
        for own, new in zip(sampled.parameters(), trained.parameters(), strict=True):
            if new.requires_grad:
                own.copy_(new)


def open_policy(engine: Engine, template: ChatTemplate, section: RolloutsSection, stop_id: int, temperature: float) -> OpenPolicy:
    """Return what makes the policy of one rollout."""

    def open_sampler(seed: int) -> ChatModel:
        settings = SamplingSettings(
            stop_ids=(stop_id,), temperature=temperature, top_p=section.top_p, most_tokens=section.most_tokens, seed=seed
        )
        return Sampler(engine, template, settings, section.context)

    return open_sampler
