"""`rubrica models`: small language models for this machine."""

from typing import Annotated

import typer

from infra.cli.execute import execute

app = typer.Typer(help="Small language models for this machine.", rich_markup_mode=None)
Names = Annotated[list[str] | None, typer.Argument(metavar="[NAME]...", help="Models; default: all that are here.")]


@app.callback(invoke_without_command=True)
def list_models(context: typer.Context) -> None:
    """List the models: size, what running each takes, and whether its file is here."""
    if context.invoked_subcommand is None:
        from infra.cli import model_commands

        execute(model_commands.show_models)


@app.command()
def fetch(names: Annotated[list[str], typer.Argument(metavar="NAME...", help="Models (see `models`).")]) -> None:
    """Download models that are not here and verify them. A download that was cut off goes on."""
    from infra.cli import model_commands

    execute(lambda settings: model_commands.fetch(settings, names))


@app.command()
def check(names: Names = None) -> None:
    """Verify the files by their SHA-256. Exit codes: 0 all are sound, 1 one is missing or damaged."""
    from infra.cli import model_commands

    execute(lambda settings: model_commands.check(settings, names or ()))
