"""`rubrica eval`: run a system over a benchmark, judge and report it, compare two runs."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated
from uuid import UUID

import typer

from app.accounts.nouns.access import LOCAL_ORGANISATION
from app.domain.fleets import FleetWish
from app.domain.query import Effort, Language, SystemName
from app.domain.writer import Composition
from infra.cli import building
from infra.cli.execute import execute, leave_with

app = typer.Typer(help="Benchmarks (docs/evaluation.md).", no_args_is_help=True)
app.add_typer(building.app, name="build")

Folder = Annotated[Path, typer.Argument(metavar="FOLDER", help="A run's folder.")]
Organisation = Annotated[UUID, typer.Option(help="The organisation that owns a fleet's runs; default: this machine's own.")]


@app.callback()
def evaluation() -> None:
    """Run and compare benchmarks."""


@app.command()
def benchmarks() -> None:
    """List the benchmarks, and the data that each reads."""
    from infra.cli.evaluation_commands import show_benchmarks as work

    leave_with(work)


@app.command()
def run(
    benchmark: Annotated[str, typer.Argument(help="Which one; `rubrica eval benchmarks` lists them.")],
    data: Annotated[Path, typer.Option(help="The folder or file with its published data.")],
    out: Annotated[Path, typer.Option(help="The run's folder: a new one, or that of a run to go on with.")],
    variant: Annotated[str, typer.Option(help="How it is scored, where there are several ways.")] = "",
    limit: Annotated[int, typer.Option(min=0, help="How many items, drawn by the seed; 0: all.")] = 0,
    ids: Annotated[list[str] | None, typer.Option("--id", help="This item (repeatable).")] = None,
    language: Annotated[Language | None, typer.Option(help="Items in this language only.")] = None,
    seed: Annotated[int, typer.Option(help="The seed that draws the items.")] = 0,
    system: Annotated[SystemName, typer.Option(help="The research system.")] = SystemName.MINDDR,
    effort: Annotated[Effort, typer.Option(help="How far its agents go.")] = Effort.STANDARD,
    writer: Annotated[
        Composition | None, typer.Option(help="minddr's report: by section writers (default), or by one call.")
    ] = None,
    one_conversation: Annotated[
        bool, typer.Option("--one-conversation", help="deeprubric: the answer that ends the search is the report.")
    ] = False,
    reports: Annotated[Path | None, typer.Option(help="Judge these finished reports instead (JSON Lines: id, article).")] = None,
    reference: Annotated[Path | None, typer.Option(help="RACE: the reports to compare with (JSON Lines: id, article).")] = None,
    collection: Annotated[list[str] | None, typer.Option(help="Search this collection (repeatable).")] = None,
    model_file: Annotated[Path | None, typer.Option(help="A GGUF file to be the model, in this process.")] = None,
    call_limit: Annotated[int, typer.Option(min=0, help="Tool calls for each searching agent; 0: the effort's.")] = 0,
    context_limit: Annotated[int, typer.Option(min=0, help="About how many tokens in a context; 0: the effort's.")] = 0,
    temperature: Annotated[
        float | None, typer.Option(min=0, max=2, help="The temperature of all the system's calls; default: each step's own.")
    ] = None,
    judge_file: Annotated[Path | None, typer.Option(help="A GGUF file to be the judge alone, in this process.")] = None,
    judge_chars: Annotated[int, typer.Option(min=0, help="Characters of a report that the judge sees; 0: all.")] = 0,
    threads: Annotated[int, typer.Option(min=1, help="Threads of a model in this process.")] = 1,
    at_once: Annotated[int, typer.Option(min=1, help="Items and judge calls under way at a time.")] = 4,
    demonstration: Annotated[bool, typer.Option("--demonstration", help="Mark the run as no measurement.")] = False,
    fleet: Annotated[bool, typer.Option("--fleet", help="Have the running stack's workers run the system.")] = False,
    organisation: Organisation = LOCAL_ORGANISATION,
) -> None:
    """Work through a benchmark. The same command goes on where it was cut off, and keeps all answers.

    Exit codes: 0 every item has its scores, 1 some lack them, 2 the input or the machine cannot be used.
    """
    from infra.cli.evaluation_commands import run_and_report as work
    from training.evaluation.harness.caps import Caps
    from training.evaluation.harness.run_request import RunRequest

    request = RunRequest(
        benchmark=benchmark,
        data=data,
        out=out,
        variant=variant,
        reference=reference,
        limit=limit,
        ids=tuple(ids or ()),
        language=language,
        seed=seed,
        system=system,
        effort=effort,
        composition=writer,
        one_conversation=one_conversation,
        reports=reports,
        collections=tuple(collection or ()),
        model_file=model_file,
        judge_file=judge_file,
        judge_chars=judge_chars,
        caps=Caps(calls=call_limit, context=context_limit),
        temperature=temperature,
        threads=threads,
        at_once=at_once,
        demonstration=demonstration,
        fleet=fleet,
    )
    execute(lambda settings: work(settings, request, organisation))


@app.command()
def fleet(
    folder: Folder,
    wish: Annotated[FleetWish | None, typer.Option("--set", help="pause: begin no further run; go; cancel.")] = None,
    organisation: Organisation = LOCAL_ORGANISATION,
) -> None:
    """Print how far the fleet of a run is; pause it, let it go on, or cancel it."""
    from infra.cli.evaluation_fleet import show_fleet as work

    execute(lambda settings: work(settings, folder, organisation, wish))


@app.command()
def report(folder: Folder) -> None:
    """Print a run's figures and write report.html into its folder."""
    from infra.cli.evaluation_commands import show_report as work

    leave_with(lambda: work(folder))


@app.command()
def compare(
    first: Folder,
    second: Folder,
    out: Annotated[Path | None, typer.Option(help="Write the comparison to this HTML file too.")] = None,
) -> None:
    """Print the paired differences of two runs, with intervals. Both runs must have the same judge."""
    from infra.cli.evaluation_commands import compare_folders as work

    leave_with(lambda: work(first, second, out))


@app.command()
def limits(
    folders: Annotated[list[Path], typer.Argument(metavar="FOLDER...", help="Runs of one system under different limits.")],
    out: Annotated[Path, typer.Option(help="The HTML file to write.")] = Path("limits.html"),
) -> None:
    """Draw a system's main figure against limits of tool calls and of context (`run --call-limit`, `--context-limit`)."""
    from infra.cli.evaluation_commands import compare_limits as work

    leave_with(lambda: work(folders, out))


@app.command()
def tables() -> None:
    """List the tables and figures of the papers that evaluated runs can fill."""
    from infra.cli.evaluation_tables import show_tables as work

    leave_with(work)


@app.command()
def table(
    name: Annotated[str, typer.Argument(help="Which one; `rubrica eval tables` lists them.")],
    runs: Annotated[
        list[str] | None, typer.Option("--run", metavar="LABEL=FOLDER", help="A run and the row it fills (repeatable).")
    ] = None,
    training: Annotated[
        list[str] | None, typer.Option(metavar="LABEL=FOLDER", help="A training run, for figures of curves (repeatable).")
    ] = None,
    values: Annotated[
        list[str] | None, typer.Option("--value", metavar="CURVE=NAME", help="The name under which a curve is logged.")
    ] = None,
    out: Annotated[Path, typer.Option(help="The folder for NAME.html, NAME.md and NAME.csv.")] = Path("tables"),
) -> None:
    """Fill a table or figure of the papers from runs. A cell that no run fills says why. Without runs it shows what it takes."""
    from infra.cli.evaluation_tables import make_table as work

    leave_with(lambda: work(name, runs or [], training or [], values or [], out))


@app.command()
def form(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Reports in Markdown.")],
    written: Annotated[
        datetime | None, typer.Option(formats=["%Y-%m-%d"], help="When they were written; default: today.")
    ] = None,
) -> None:
    """Find faults in the form of reports: tables, headings, citations, language, repetition, tense.

    Exit codes: 0 no fault, 1 faults, 2 a file cannot be read.
    """
    from infra.cli.report_form import check_reports as work

    leave_with(lambda: work(files, (written or datetime.now(UTC)).date()))
