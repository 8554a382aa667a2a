"""The weights of a base model, beside which LoRA adapters come and go between two tokens."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

from peft import LoraConfig
from peft.functional import (
    cast_adapter_dtype,
    delete_adapter,
    inject_adapter_in_model,
    set_adapter,
    set_peft_model_state_dict,
)
from safetensors import SafetensorError
from safetensors.torch import load_file

from app.domain.errors import InvalidInput, NotFound
from training.recipes.merging import ADAPTER
from training.rollouts.transformers_engine import Borrow
from training.serving.turns import Turns

CONFIG = "adapter_config.json"


class SharedWeights:
    """A base model with its adapters, each in a slot of its own. Those that generate take turns, token by token.

    An adapter is read and checked while others generate; putting it in has a turn like a token, and takes a moment. Where that
    fails, the model is as it was before.
    """

    def __init__(self, model: Any, max_rank: int) -> None:
        self._model = model.requires_grad_(False).eval()
        self._max_rank = max_rank
        self._turns = Turns()
        self._numbers = count(1)

    def lend(self, slot: str = "") -> Borrow:
        """Return what lends the model with the adapter of a slot, or the base alone, for the time of a batch."""

        @contextmanager
        def borrow() -> Iterator[Any]:
            with self._turns.take():
                self._activate(slot)
                yield self._model

        return borrow

    def share(self, slot: str = "") -> Callable[[], None]:
        """Return what a slot that generates calls between two tokens: the others have a turn each."""

        def let_others() -> None:
            if self._turns.pass_on():
                self._activate(slot)

        return let_others

    def add(self, folder: Path) -> str:
        """Put the adapter of a folder beside the base, and return its slot.

        Raises:
            NotFound: the folder holds no adapter.
            InvalidInput: it holds no plain LoRA adapter of this base, or its rank is too high.
        """
        config = _read_config(folder, self._max_rank)
        tensors = _read_tensors(folder, str(self._model.device))
        slot = f"slot{next(self._numbers)}"
        with self._turns.take():
            try:
                self._put_in(slot, config, tensors)
            except (ValueError, RuntimeError, KeyError, TypeError) as error:
                raise InvalidInput(
                    f"the adapter in {folder} does not fit the base model: {' '.join(str(error).split())}"
                ) from error
        return slot

    def remove(self, slot: str) -> None:
        """Take an adapter out."""
        with self._turns.take():
            self._take_out(slot)

    def _activate(self, slot: str) -> None:
        set_adapter(self._model, [slot] if slot else [], inference_mode=True)

    def _put_in(self, slot: str, config: LoraConfig, tensors: dict[str, Any]) -> None:
        try:
            inject_adapter_in_model(config, self._model, slot, low_cpu_mem_usage=True)
            told = set_peft_model_state_dict(self._model, tensors, slot, low_cpu_mem_usage=True)
            strange = [*told.unexpected_keys, *(key for key in told.missing_keys if f".{slot}." in key)]
            if strange:
                raise ValueError(f"its weights and its configuration differ: {', '.join(strange[:3])}")
            # As PEFT does where it trains: adapters are computed in float32 under any base.
            cast_adapter_dtype(self._model, slot)
            self._model.eval()
        except BaseException:
            self._take_out(slot)
            raise

    def _take_out(self, slot: str) -> None:
        self._activate("")
        delete_adapter(self._model, slot, "lora_")
        self._model.peft_config.pop(slot, None)


def _read_config(folder: Path, max_rank: int) -> LoraConfig:
    """Read the configuration of an adapter that vLLM serves as well."""
    if not (folder / CONFIG).is_file() or not (folder / ADAPTER).is_file():
        raise NotFound(f"No adapter found for {folder}: it has no {CONFIG} with {ADAPTER}")
    try:
        config = LoraConfig.from_pretrained(str(folder))
    except (ValueError, TypeError, KeyError) as error:
        raise InvalidInput(f"{folder / CONFIG} cannot be read: {error}") from error
    if type(config) is not LoraConfig or config.use_dora or config.modules_to_save or config.bias != "none":
        raise InvalidInput(f"{folder} is no plain LoRA adapter (no DoRA, no modules_to_save, no bias)")
    if config.r > max_rank:
        raise InvalidInput(f"the adapter in {folder} has the rank {config.r}, and --max-lora-rank is {max_rank}")
    config.inference_mode = True
    return config


def _read_tensors(folder: Path, device: str) -> dict[str, Any]:
    try:
        tensors: dict[str, Any] = load_file(folder / ADAPTER, device)
    except (SafetensorError, OSError) as error:
        raise InvalidInput(f"{folder / ADAPTER} cannot be read: {error}") from error
    return tensors
