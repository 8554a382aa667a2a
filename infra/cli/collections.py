"""`rubrica collections`: an organisation's own documents, over the API."""

from pathlib import Path
from typing import Annotated

import typer

from infra.cli.execute import execute

app = typer.Typer(help="Your organisation's own documents.", no_args_is_help=True, rich_markup_mode=None)
Name = Annotated[str, typer.Argument(help="A collection, by name or id (see `collections list`).")]


@app.command("list")
def list_collections() -> None:
    """List the collections that you may use."""
    from infra.cli import collection_commands

    execute(collection_commands.show_collections)


@app.command()
def create(name: Annotated[str, typer.Argument(help="Its name; runs search it by that name.")]) -> None:
    """Make a collection."""
    from infra.cli import collection_commands

    execute(lambda settings: collection_commands.create(settings, name))


@app.command()
def upload(
    name: Name,
    files: Annotated[list[Path], typer.Argument(exists=True, dir_okay=False, resolve_path=True, help="Files to send.")],
    wait: Annotated[bool, typer.Option(help="Wait until they can be searched.")] = True,
) -> None:
    """Send documents. A document replaces an older one of the same name."""
    from infra.cli import collection_commands

    execute(lambda settings: collection_commands.upload(settings, name, files, wait))


@app.command()
def documents(name: Name) -> None:
    """List the documents of a collection, and how far each is."""
    from infra.cli import collection_commands

    execute(lambda settings: collection_commands.show_documents(settings, name))


@app.command()
def remove(
    name: Name,
    document: Annotated[str, typer.Argument(help="Only this document, by file name or id; default: the whole collection.")] = "",
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Delete a collection, or one document of it, with its texts and vectors. Reports keep the words that they quote."""
    from infra.cli import collection_commands

    if not yes:
        typer.confirm(f"Delete {document or 'all documents'} of {name}?", abort=True)
    execute(lambda settings: collection_commands.remove(settings, name, document))
