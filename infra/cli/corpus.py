"""`rubrica corpus`: the collections that are searched."""

from pathlib import Path
from typing import Annotated

import typer

from infra.cli.execute import execute

app = typer.Typer(help="Collections of documents to search.", no_args_is_help=True, rich_markup_mode=None)
Name = Annotated[str, typer.Argument(help="A collection (see `corpus list`).")]


@app.command()
def add(
    path: Annotated[
        Path, typer.Argument(exists=True, resolve_path=True, help="A folder of files, or a corpus's file or folder.")
    ],
    name: Annotated[str | None, typer.Option(help="The collection's name; default: after the folder.")] = None,
    kind: Annotated[
        str,
        typer.Option(
            help="folder: a person's own files; wikipedia: a dump; wikipedia-passages: DPR's or wiki-18's; papers: peS2o or "
            "OpenScholar; beir; records: other JSON lines or TSV. See docs/corpora.md."
        ),
    ] = "folder",
    licence: Annotated[str, typer.Option(help="Licence of the documents that state none themselves.")] = "",
) -> None:
    """Make a collection and index it."""
    from infra.cli import corpus_commands

    execute(lambda settings: corpus_commands.add(settings, path, name, kind, licence))


@app.command("list")
def list_collections(
    skipped: Annotated[bool, typer.Option("--skipped", help="With the files that were skipped.")] = False,
) -> None:
    """List the collections, and how far each is indexed."""
    from infra.cli import corpus_commands

    execute(lambda settings: corpus_commands.show_collections(settings, skipped))


@app.command()
def build(name: Name) -> None:
    """Read a collection again and index what has changed. A build that was cut off goes on."""
    from infra.cli import corpus_commands

    execute(lambda settings: corpus_commands.rebuild(settings, name))


@app.command()
def stats(name: Name) -> None:
    """Print what a collection is made of: languages, licences, sizes."""
    from infra.cli import corpus_commands

    execute(lambda settings: corpus_commands.show_statistics(settings, name))


@app.command()
def verify(name: Name) -> None:
    """Check a collection's snapshots, passages and index against each other."""
    from infra.cli import corpus_commands

    execute(lambda settings: corpus_commands.verify(settings, name))


@app.command()
def drop(name: Name, yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False) -> None:
    """Delete a collection with its index and its stored texts. Reports that cite it keep their own copies."""
    from infra.cli import corpus_commands

    if not yes:
        typer.confirm(f"Delete {name} with all its documents?", abort=True)
    execute(lambda settings: corpus_commands.drop(settings, name))
