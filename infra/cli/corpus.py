"""`rubrica corpus`: what is searched."""

from pathlib import Path
from typing import Annotated

import typer

from infra.cli.execute import execute

app = typer.Typer(help="Collections of documents to search.", no_args_is_help=True, rich_markup_mode=None)


@app.command()
def add(
    folder: Annotated[
        Path, typer.Argument(exists=True, resolve_path=True, help="A folder with Markdown, text, HTML or PDF files.")
    ],
    name: Annotated[str | None, typer.Option(help="The collection's name; default: after the folder.")] = None,
    kind: Annotated[str, typer.Option(help="folder, or beir (a corpus.jsonl in BEIR's format).")] = "folder",
) -> None:
    """Make a collection of files and index it."""
    from infra.cli import corpus_commands

    execute(lambda settings: corpus_commands.add(settings, folder, name, kind))


@app.command("list")
def list_collections(
    skipped: Annotated[bool, typer.Option("--skipped", help="With the files that were skipped.")] = False,
) -> None:
    """The collections there are, and how far each is indexed."""
    from infra.cli import corpus_commands

    execute(lambda settings: corpus_commands.show(settings, skipped))


@app.command()
def build(name: Annotated[str, typer.Argument(help="A collection (see `corpus list`).")]) -> None:
    """Read a collection's files again and index them."""
    from infra.cli import corpus_commands

    execute(lambda settings: corpus_commands.rebuild(settings, name))
