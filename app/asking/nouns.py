"""Estimates of a run before it starts: from similar runs, and from general experience."""

from pydantic import Field

from app.domain.value import Value


class Interval(Value):
    """A range: four of five runs end between `low` and `high`; half of them below `likely`."""

    low: int = Field(ge=0)
    likely: int = Field(ge=0)
    high: int = Field(ge=0)


class Estimate(Value):
    """Tokens, money (millionths of a US dollar; None where the model has no price here) and seconds of work.

    The estimate comes from `runs` similar finished runs; with few of them it leans on general experience. `model` is empty
    without a model. Of systems side by side, tokens and money are those of all; the time is that of the slowest. `within_budget`
    is true when the high end stays under the caps of the run. `refusal` says why the model would refuse every request of the run;
    empty if it would not, as far as is known.
    """

    tokens: Interval
    cost_microusd: Interval | None
    seconds: Interval
    runs: int = Field(ge=0)
    model: str = ""
    within_budget: bool = True
    refusal: str = ""
