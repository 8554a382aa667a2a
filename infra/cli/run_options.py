"""Options of commands that start or steer a run: its report, where it searches, and its caps in the units that people use."""

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any

import typer

from app.domain.budget import Budget
from app.domain.options import Length, ReportFormat, SourceKind, Tone
from app.domain.writer import Composition

DATE_FORMATS = ["%Y-%m-%d"]
Lengths = Annotated[Length | None, typer.Option("--length", help="How long the report is.")]
Tones = Annotated[Tone | None, typer.Option("--tone", help="The tone of the report.")]
Audience = Annotated[str, typer.Option(help="Who will read it, in a few words.")]
Format = Annotated[ReportFormat | None, typer.Option("--format", help="The form of the report.")]
From = Annotated[datetime | None, typer.Option("--from", formats=DATE_FORMATS, help="Only sources of this day or later.")]
To = Annotated[datetime | None, typer.Option("--to", formats=DATE_FORMATS, help="Only sources of this day or earlier.")]
Sources = Annotated[list[SourceKind] | None, typer.Option("--source", help="Where to search; repeat for several.")]
Collections = Annotated[list[str] | None, typer.Option("--collection", help="A collection to search; repeat for several.")]
Allowed = Annotated[list[str] | None, typer.Option("--allow-domain", help="Only this domain of the web; repeatable.")]
Refused = Annotated[list[str] | None, typer.Option("--refuse-domain", help="Nothing of this domain; repeatable.")]
AllowTool = Annotated[
    list[str] | None, typer.Option("--allow-tool", help="An MCP tool that may change things, as server.tool; repeatable.")
]
Writer = Annotated[Composition | None, typer.Option("--writer", help="Section writers, or one call for the whole report.")]
ApprovePlan = Annotated[bool, typer.Option("--approve-plan", help="Stop at the plan; `rubrica runs approve` goes on.")]
Rubric = Annotated[bool, typer.Option("--rubric", help="Hold the report to a rubric; `rubrica runs rubric` shows it.")]


class ReplayStep(StrEnum):
    """Who is asked again in a replay."""

    WRITER = "writer"
    PLANNER = "planner"


MaxTokens = Annotated[int | None, typer.Option(min=1, help="Pause when the run has used this many tokens.")]
MaxCost = Annotated[float | None, typer.Option(min=0.000001, help="Pause when the run has cost this much (US$).")]
MaxMinutes = Annotated[float | None, typer.Option(min=0.02, help="Pause when the agents have worked this long.")]


def build_budget(max_tokens: int | None, max_cost: float | None, max_minutes: float | None) -> Budget | None:
    """Return the run's caps, or None when there is none."""
    if max_tokens is None and max_cost is None and max_minutes is None:
        return None
    return Budget(
        max_tokens=max_tokens,
        max_cost_microusd=None if max_cost is None else round(max_cost * 1_000_000),
        max_seconds=None if max_minutes is None else max(1, round(max_minutes * 60)),
    )


def collect_options(**options: Any) -> dict[str, Any]:
    """Return the options that were given, as the API takes them."""
    return {name: _to_plain(value) for name, value in options.items() if value}


def _to_plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.date().isoformat()
    return list(value) if isinstance(value, Sequence) and not isinstance(value, str) else value
