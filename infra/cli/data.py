"""`rubrica data`: training sets, made from corpora, recorded runs and preferences."""

from pathlib import Path
from typing import Annotated

import typer

from app.settings import Settings
from infra.cli.execute import execute, leave_with

app = typer.Typer(help="Training sets (docs/data.md).", no_args_is_help=True)


@app.command()
def kinds() -> None:
    """List the kinds of sets."""
    from infra.cli.data_commands import show_kinds as work

    leave_with(work)


@app.command()
def make(
    kind: Annotated[str, typer.Argument(help="Which kind; `rubrica data kinds` lists them.")],
    out: Annotated[Path, typer.Option(help="The set's folder: a new one, or that of a set to go on with.")],
    rows: Annotated[int, typer.Option(min=1, help="How many rows.")] = 100,
    corpus: Annotated[list[str] | None, typer.Option(help="A collection of the home (repeatable).")] = None,
    inputs: Annotated[
        list[Path] | None, typer.Option("--input", help="A file or folder that the kind reads (repeatable).")
    ] = None,
    against: Annotated[
        list[str] | None, typer.Option(help="NAME=DATA: a public set whose texts no row may have; default: all that are found.")
    ] = None,
    option: Annotated[list[str] | None, typer.Option(help="NAME=VALUE, as the kind explains (repeatable).")] = None,
    seed: Annotated[int, typer.Option(help="The seed of all draws.")] = 0,
    model_file: Annotated[Path | None, typer.Option(help="A GGUF file to be the writer, in this process.")] = None,
    verifier_file: Annotated[Path | None, typer.Option(help="A GGUF file to be the verifier.")] = None,
    threads: Annotated[int, typer.Option(min=1, help="Threads of a model in this process.")] = 1,
    at_once: Annotated[int, typer.Option(min=1, help="Candidates and calls under way at a time.")] = 8,
    candidates: Annotated[int | None, typer.Option(min=1, help="Work at most so many, whatever becomes of them.")] = None,
) -> None:
    """Make a set. The same command goes on where it was cut off, asks nothing twice, and gives the same bytes."""
    from infra.cli.data_commands import make_and_report, read_options
    from training.synthesis.set_request import SetRequest

    async def work(settings: Settings) -> int:
        request = SetRequest(
            kind=kind,
            out=out,
            rows=rows,
            seed=seed,
            corpora=tuple(corpus or ()),
            inputs=tuple(inputs or ()),
            against=tuple(against or ()),
            options=read_options(option or ()),
            model_file=model_file,
            verifier_file=verifier_file,
            threads=threads,
            at_once=at_once,
            candidates=candidates,
        )
        return await make_and_report(settings, request)

    execute(work)


@app.command()
def review(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="The folder that --option review=FOLDER named.")],
    reviewer: Annotated[str, typer.Option(help="Who reviews; the same name each time.")],
) -> None:
    """Compare the pairs of a preference set that wait for this person, without knowing who wrote them."""
    from infra.cli.data_review import review as work

    leave_with(lambda: work(folder, reviewer))
