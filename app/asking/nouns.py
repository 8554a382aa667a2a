"""What a run will probably take, before it is started: from runs like it, and from what is known of runs in general."""

from pydantic import Field

from app.domain.value import Value


class Interval(Value):
    """Four of five runs end between `low` and `high`; half of them below `likely`."""

    low: int = Field(ge=0)
    likely: int = Field(ge=0)
    high: int = Field(ge=0)


class Estimate(Value):
    """Tokens, money (millionths of a US dollar; None where the model has no price here) and seconds of work.

    `runs` finished runs like it are behind this; with few of them it leans on general experience. `model` is the one asked, empty
    without one. Of systems side by side, tokens and money are those of all, the time is that of the slowest. `within_budget`
    tells whether the high end stays under the caps of the run.
    """

    tokens: Interval
    cost_microusd: Interval | None
    seconds: Interval
    runs: int = Field(ge=0)
    model: str = ""
    within_budget: bool = True
