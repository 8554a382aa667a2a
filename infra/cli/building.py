"""`rubrica eval build`: make a benchmark from the questions of readers who agree to it."""

from datetime import date, datetime
from pathlib import Path
from typing import Annotated

import typer

from infra.cli.execute import execute, leave_with

app = typer.Typer(help="A benchmark from readers' questions (docs/building.md).", no_args_is_help=True)
Queue = Annotated[Path, typer.Argument(metavar="FOLDER", help="The folder in which the set is made.")]
KeyFile = Annotated[Path | None, typer.Option(help="The key of the pseudonyms; default: one in RUBRICA_HOME.")]


@app.callback()
def build() -> None:
    """Make a benchmark from readers' questions."""


@app.command()
def collect(
    folder: Queue,
    since: Annotated[datetime, typer.Option(formats=["%Y-%m-%d"], help="Only questions from this day on.")] = "1970-01-01",  # type: ignore[assignment]
    key_file: KeyFile = None,
) -> None:
    """Take in the questions of people who agree, with their organisation, to that now; remove those of people who do not."""
    from infra.cli.building_commands import collect as work

    execute(lambda settings: work(settings, folder, date(since.year, since.month, since.day), key_file))


@app.command()
def screen(
    folder: Queue,
    model_file: Annotated[Path | None, typer.Option(help="A GGUF file to be the model, in this process.")] = None,
    at_once: Annotated[int, typer.Option(min=1, help="Questions under way at a time.")] = 4,
) -> None:
    """Have a model judge each question: its depth, its domain, and whether it may be shown."""
    from infra.cli.building_commands import screen as work

    execute(lambda settings: work(settings, folder, model_file, at_once))


@app.command()
def review(folder: Queue, reviewer: Annotated[str, typer.Option(help="Who reviews; the same name each time.")]) -> None:
    """Review the questions that wait for this expert: accept, reword or reject each."""
    from infra.cli.building_commands import review as work

    leave_with(lambda: work(folder, reviewer))


@app.command()
def publish(
    folder: Queue,
    out: Annotated[Path, typer.Option(help="The folder of the set; each version gets a folder in it.")],
    against: Annotated[list[str], typer.Option(metavar="NAME=DATA", help="A public set that it must not repeat (repeatable).")],
    reviews: Annotated[int, typer.Option(min=1, help="How many experts must accept a question.")] = 2,
    key_file: KeyFile = None,
) -> None:
    """Write the next version, with the questions that are accepted, still agreed to, and in no public set."""
    from infra.cli.building_commands import publish as work

    execute(lambda settings: work(settings, folder, out, against, reviews, key_file))
