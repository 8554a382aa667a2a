"""How a served model is spoken to: the tokenizer and chat template of its folder, as in training."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from app.domain.errors import InvalidInput, SetupError
from training.recipes.config import BaseModelSection
from training.recipes.policy import load_tokenizer
from training.rollouts.chat_template import ChatTemplate

TOKENIZER = "tokenizer_config.json"


@dataclass(frozen=True)
class PromptFormat:
    """A tokenizer with its chat template. `stop_id` ends a turn, as it does in training."""

    tokenizer: Any
    template: ChatTemplate

    @property
    def stop_id(self) -> int:
        """The id of the token that ends a turn."""
        return int(self.tokenizer.eos_token_id)

    def is_like(self, other: "PromptFormat") -> bool:
        """Say whether both make the same ids of every conversation."""
        ours, theirs = self.tokenizer, other.tokenizer
        same = ours.chat_template == theirs.chat_template and self.stop_id == other.stop_id
        return same and ours.get_vocab() == theirs.get_vocab()


def open_prompt_format(folder: Path, template: Literal["own", "chatml"]) -> PromptFormat:
    """Open the format of a model's folder.

    Raises:
        InvalidInput: the folder has no tokenizer with a chat template.
        SetupError: the template changes earlier turns.
    """
    tokenizer = load_tokenizer(BaseModelSection(base=str(folder), template=template))
    if not tokenizer.chat_template:
        raise InvalidInput(f"the tokenizer in {folder} has no chat template; --template chatml gives it ours")
    return PromptFormat(tokenizer, ChatTemplate(tokenizer))


def choose_format(adapter: Path, base: PromptFormat) -> PromptFormat:
    """Return the format that an adapter was trained with: its own where its folder has one, else that of the base.

    Raises `InvalidInput` where its own cannot be used.
    """
    if not (adapter / TOKENIZER).exists():
        return base
    try:
        own = open_prompt_format(adapter, "own")
    except SetupError as error:
        raise InvalidInput(f"{adapter}: {error}") from error
    return base if own.is_like(base) else own
