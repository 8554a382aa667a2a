"""`rubrica runs`: look at runs and steer them."""

from pathlib import Path
from typing import Annotated

import typer

from app.exports.nouns import ExportFormat
from infra.cli.execute import execute
from infra.cli.run_options import MaxCost, MaxMinutes, MaxTokens, ReplayStep, build_budget

app = typer.Typer(help="Look at runs and steer them.", no_args_is_help=True, rich_markup_mode=None)

RunId = Annotated[str, typer.Argument(help="The run's id, or enough of its beginning.")]
Out = Annotated[Path, typer.Option(help="Folder for reports.")]
REPORTS = Path("reports")


@app.command("list")
def list_runs(limit: Annotated[int, typer.Option(min=1, max=100)] = 20) -> None:
    """List the newest runs."""
    from infra.cli import run_commands

    execute(lambda settings: run_commands.show_runs(settings, limit))


@app.command()
def show(run: RunId) -> None:
    """Print the question, status, use and plan of a run."""
    from infra.cli import run_commands

    execute(lambda settings: run_commands.show_run(settings, run))


@app.command()
def watch(run: RunId, out: Out = REPORTS) -> None:
    """Follow a run to its end and write its report."""
    from infra.cli import run_commands

    execute(lambda settings: run_commands.watch(settings, run, out))


@app.command()
def pause(run: RunId) -> None:
    """Stop after the current turn and keep everything."""
    from infra.cli import run_commands

    execute(lambda settings: run_commands.pause(settings, run))


@app.command()
def resume(
    run: RunId,
    finish: Annotated[bool, typer.Option("--finish", help="Write the report from what there is, spending nothing more.")] = False,
    present_models: Annotated[
        bool, typer.Option("--present-models", help="Where a model of the run is gone, take the one that has its role now.")
    ] = False,
    out: Out = REPORTS,
) -> None:
    """Go on with a parked run, follow it, and write its report."""
    from infra.cli import run_commands

    execute(lambda settings: run_commands.resume(settings, run, finish, present_models, out))


@app.command()
def approve(run: RunId, out: Out = REPORTS) -> None:
    """Approve the plan of a run that waits for that, follow the run, and write its report."""
    from infra.cli import run_commands

    execute(lambda settings: run_commands.approve(settings, run, out))


@app.command()
def rubric(
    run: RunId,
    edit: Annotated[Path | None, typer.Option(exists=True, dir_okay=False, help="JSON file with the new criteria.")] = None,
) -> None:
    """Print the criteria for a run's report as JSON, or replace them."""
    from infra.cli import run_commands

    execute(lambda settings: run_commands.show_rubric(settings, run, edit))


@app.command()
def scorecard(run: RunId) -> None:
    """Print how well a run's report meets its criteria."""
    from infra.cli import run_commands

    execute(lambda settings: run_commands.show_scorecard(settings, run))


@app.command()
def cancel(run: RunId) -> None:
    """End a run for good."""
    from infra.cli import run_commands

    execute(lambda settings: run_commands.cancel(settings, run))


@app.command()
def tape(run: RunId, file: Annotated[Path, typer.Argument(dir_okay=False, help="Where to write it.")]) -> None:
    """Save the results of a run's tools, so that it can be played back without them."""
    from infra.cli import run_commands

    execute(lambda settings: run_commands.save_tape(settings, run, file))


@app.command()
def replay(
    run: RunId,
    model: Annotated[str | None, typer.Option(help="The served model to ask instead.")] = None,
    prompt: Annotated[
        list[str] | None, typer.Option(help="A version of a prompt, as single_pass=v2; repeat for several.")
    ] = None,
    step: Annotated[ReplayStep, typer.Option(help="Who is asked again.")] = ReplayStep.WRITER,
    out: Out = REPORTS,
) -> None:
    """Ask a run's writer or planner again over what the run found, and set both outcomes side by side."""
    from infra.cli import replay as replaying

    execute(lambda settings: replaying.replay(settings, run, step, replaying.read_wish(model, prompt), out))


@app.command()
def export(
    run: RunId,
    form: Annotated[ExportFormat, typer.Option("--format", help="What to write.")] = ExportFormat.PDF,
    file: Annotated[
        Path | None, typer.Option(dir_okay=False, help="Where; default: report.<extension> among the reports.")
    ] = None,
) -> None:
    """Write a report as PDF, Word, LaTeX and others, or its sources for a reference manager."""
    from infra.cli import run_commands

    execute(lambda settings: run_commands.export(settings, run, form, file))


@app.command()
def steer(
    run: RunId,
    note: Annotated[str | None, typer.Option(help="Something the agents should know from now on.")] = None,
    add: Annotated[str | None, typer.Option(help="A further question to look into.")] = None,
    drop: Annotated[str | None, typer.Option(help="Id of a subtask to leave out (see `runs show`).")] = None,
    plan: Annotated[Path | None, typer.Option(exists=True, dir_okay=False, help="JSON file with a whole new plan.")] = None,
    max_tokens: MaxTokens = None,
    max_cost: MaxCost = None,
    max_minutes: MaxMinutes = None,
) -> None:
    """Change the course of a run. Several options are applied in the order listed here."""
    from infra.cli import run_commands

    steering = run_commands.RunChanges(note, add, drop, plan, build_budget(max_tokens, max_cost, max_minutes))
    execute(lambda settings: run_commands.steer(settings, run, steering))
