"""The check before a run: what it will read and take, and whether that fits. `rubrica train --dry-run` prints it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from training.recipes.chatml import MaskedIds

GIB = 1 << 30


@dataclass(frozen=True, slots=True)
class TokenCounts:
    """The tokens of the examples: all, those that are trained, and those of the longest example."""

    examples: int
    tokens: int
    trained: int
    longest: int


def count_tokens(examples: Sequence[MaskedIds]) -> TokenCounts:
    """Count the tokens of examples, at least one."""
    lengths = [len(each.ids) for each in examples]
    return TokenCounts(len(examples), sum(lengths), sum(sum(each.trained) for each in examples), max(lengths))


@dataclass(frozen=True, slots=True)
class MemoryEstimate:
    """The bytes that a device needs, by what needs them, and those that it has. An estimate: within a factor of about two."""

    needed: Mapping[str, int]
    there: int

    @property
    def total(self) -> int:
        """All that is needed."""
        return sum(self.needed.values())

    @property
    def fits(self) -> bool:
        """Whether there is enough."""
        return self.total <= self.there


@dataclass(frozen=True, slots=True)
class Preflight:
    """What a run will take. `figures` are the recipe's own, `warnings` what a person should know before it begins."""

    tokens: TokenCounts
    steps: int
    memory: MemoryEstimate
    figures: Mapping[str, str] = field(default_factory=dict)
    warnings: Sequence[str] = ()

    def list_lines(self) -> list[str]:
        """Return what is to be printed, a line each."""
        t, m = self.tokens, self.memory
        room = "" if m.fits else ": too little; take an adapter, shorter examples, gradient checkpointing or sharding"
        parts = ", ".join(f"{name} {size / GIB:.2f}" for name, size in m.needed.items())
        return [
            f"{'examples':12} {t.examples:,}, the longest has {t.longest:,} tokens",
            f"{'tokens':12} {t.tokens:,} an epoch, {t.trained:,} of them trained",
            f"{'steps':12} {self.steps:,}",
            f"{'memory':12} about {m.total / GIB:.2f} GiB a device ({parts}) of {m.there / GIB:.2f}{room}",
            *(f"{name:12} {value}" for name, value in self.figures.items()),
            *(f"warning: {each}" for each in self.warnings),
        ]
