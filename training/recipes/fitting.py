"""Examples that fit: those with trained tokens, and no longer than allowed. Nothing is ever cut."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from app.domain.errors import InvalidInput
from training.recipes.chatml import MaskedIds

E = TypeVar("E")


@dataclass(frozen=True, slots=True)
class FittingExamples(Generic[E]):
    """The examples (or pairs) of an epoch, and the number of those that were too long."""

    examples: Sequence[E]
    too_long: int

    def list_warnings(self, max_tokens: int) -> list[str]:
        """Say how many were too long."""
        return [f"{self.too_long} examples have more than {max_tokens} tokens and are left out"] if self.too_long else []


def keep_fitting(examples: Sequence[MaskedIds], max_tokens: int) -> FittingExamples[MaskedIds]:
    """Keep what fits.

    Raises:
        InvalidInput: nothing does.
    """
    fitting = [each for each in examples if len(each.ids) <= max_tokens and any(each.trained)]
    if not fitting:
        raise InvalidInput(
            f"none of {len(examples)} examples has trained words and at most {max_tokens} tokens; raise [data] max_tokens, or "
            "make a set of shorter ones"
        )
    return FittingExamples(fitting, sum(len(each.ids) > max_tokens for each in examples))
