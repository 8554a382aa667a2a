"""Means over the tokens of everything that was read since they were last taken, however it was cut into parts."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass
class TokenMeans:
    """Sums over tokens by name, and the number of tokens. A part of few tokens weighs little."""

    tokens: float = 0.0
    sums: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))

    def add_part(self, tokens: float, sums: Mapping[str, float]) -> None:
        """Add the sums over the tokens of one part."""
        self.tokens += tokens
        for name, value in sums.items():
            self.sums[name] += value

    def take(self) -> dict[str, float]:
        """Return the means, none without tokens, and begin anew."""
        means = {name: value / self.tokens for name, value in self.sums.items()} if self.tokens else {}
        self.tokens = 0.0
        self.sums.clear()
        return means
