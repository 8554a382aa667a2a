"""What judges may ask of the index owner, which has the encoder and, if configured, a cross-encoder."""

from collections.abc import Sequence
from typing import Protocol


class TextEncoder(Protocol):
    """An encoder whose weights no worker loads.

    Raises:
        ToolError: it cannot be reached, or has no such weights.
    """

    async def encode(self, texts: Sequence[str]) -> list[list[float]]:
        """Return a unit vector for each text."""
        ...

    async def entail(self, pairs: Sequence[tuple[str, str]]) -> list[tuple[float, float]]:
        """Return, for each premise and hypothesis, the probabilities of entailment and of contradiction."""
        ...
