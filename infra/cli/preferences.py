"""`rubrica preferences`: export readers' feedback for training. The operator uses it; it spans all organisations."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from infra.cli.execute import execute

app = typer.Typer(help="What readers prefer.", no_args_is_help=True)

TIME_FORMATS = ["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M:%S%z"]
BEGINNING = "1970-01-01"


@app.callback()
def preferences() -> None:
    """Export what readers prefer."""


@app.command()
def export(
    out: Annotated[Path, typer.Option(help="A new or empty folder.")],
    since: Annotated[datetime, typer.Option(formats=TIME_FORMATS, help="Only feedback from this time on (UTC).")] = BEGINNING,  # type: ignore[assignment]
    comments: Annotated[bool, typer.Option("--with-comments", help="With readers' own words, which may name people.")] = False,
    evidence: Annotated[
        bool, typer.Option("--with-evidence", help="With what compared reports were written from: plan, findings, quotes, tape.")
    ] = False,
    key_file: Annotated[Path | None, typer.Option(help="The key of the pseudonyms; default: one in RUBRICA_HOME.")] = None,
) -> None:
    """Write preference pairs and other feedback as JSON Lines, of people and organisations who agree to it now."""
    from infra.cli.preference_export import export as work

    begin = since if since.tzinfo else since.replace(tzinfo=UTC)
    execute(lambda settings: work(settings, out, begin, comments, evidence, key_file))
