"""Options of `rubrica ask` that say how the report is written and where is searched."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any

import typer

from app.domain.options import Length, ReportFormat, SourceKind, Tone

DAY = ["%Y-%m-%d"]
Lengths = Annotated[Length | None, typer.Option("--length", help="How long the report is.")]
Tones = Annotated[Tone | None, typer.Option("--tone", help="How it speaks.")]
Audience = Annotated[str, typer.Option(help="Who will read it, in a few words.")]
Format = Annotated[ReportFormat | None, typer.Option("--format", help="What it looks like.")]
From = Annotated[datetime | None, typer.Option("--from", formats=DAY, help="Only sources of this day or later.")]
To = Annotated[datetime | None, typer.Option("--to", formats=DAY, help="Only sources of this day or earlier.")]
Sources = Annotated[list[SourceKind] | None, typer.Option("--source", help="Where to search; repeat for several.")]
Collections = Annotated[list[str] | None, typer.Option("--collection", help="A collection to search; repeat for several.")]
Allowed = Annotated[list[str] | None, typer.Option("--allow-domain", help="Only this domain of the web; repeatable.")]
Refused = Annotated[list[str] | None, typer.Option("--refuse-domain", help="Nothing of this domain; repeatable.")]
ApprovePlan = Annotated[bool, typer.Option("--approve-plan", help="Stop at the plan; `rubrica runs approve` goes on.")]
Rubric = Annotated[bool, typer.Option("--rubric", help="Hold the report to a rubric; `rubrica runs rubric` shows it.")]


def given(**options: Any) -> dict[str, Any]:
    """What was said, as the API takes it."""
    return {name: _plain(value) for name, value in options.items() if value}


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.date().isoformat()
    return list(value) if isinstance(value, Sequence) and not isinstance(value, str) else value
