"""The caps a person may set, in the units people use."""

from typing import Annotated

import typer

from app.domain.budget import Budget

MaxTokens = Annotated[int | None, typer.Option(min=1, help="Pause when the run has used this many tokens.")]
MaxCost = Annotated[float | None, typer.Option(min=0.000001, help="Pause when the run has cost this much (US$).")]
MaxMinutes = Annotated[float | None, typer.Option(min=0.02, help="Pause when the agents have worked this long.")]


def budget(max_tokens: int | None, max_cost: float | None, max_minutes: float | None) -> Budget | None:
    """The run's cap; None when nothing is capped."""
    if max_tokens is None and max_cost is None and max_minutes is None:
        return None
    return Budget(
        max_tokens=max_tokens,
        max_cost_microusd=None if max_cost is None else round(max_cost * 1_000_000),
        max_seconds=None if max_minutes is None else max(1, round(max_minutes * 60)),
    )
