"""`rubrica retrain`: cycles of retraining, over the database of the deployment. The operator of the machine uses it."""

from pathlib import Path
from typing import Annotated

import typer

from app.domain.retraining import CycleWish
from infra.cli.execute import execute
from infra.cli.registry import Reason

app = typer.Typer(help="From readers' preferences to the next model.", no_args_is_help=True, rich_markup_mode=None)
Plan = Annotated[Path, typer.Argument(help="The folder of a plan, or its plan.toml (docs/loop.md).")]
CycleId = Annotated[str, typer.Argument(help="The cycle's id, or enough of its beginning.")]


@app.command()
def start(
    plan: Plan, dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what it would take, and start nothing.")] = False
) -> None:
    """Start a cycle; a worker takes its steps."""
    from infra.cli import retrain_commands

    execute(lambda settings: retrain_commands.describe(settings, plan) if dry_run else retrain_commands.start(settings, plan))


@app.command()
def schedule(
    plan: Plan,
    cron: Annotated[str, typer.Option(help="When: five fields, as in '0 3 * * sun'.")],
    time_zone: Annotated[str, typer.Option(help="Of these times.")] = "UTC",
) -> None:
    """Start a cycle of a copy of this plan at these times, unless one is under way."""
    from infra.cli import retrain_commands

    execute(lambda settings: retrain_commands.schedule(settings, plan, cron, time_zone))


@app.command()
def unschedule(name: Annotated[str, typer.Argument(help="The plan's name.")]) -> None:
    """End the times of a plan."""
    from infra.cli import retrain_commands

    execute(lambda settings: retrain_commands.unschedule(settings, name))


@app.command("list")
def list_cycles() -> None:
    """Print what is scheduled and what it lacks, by an estimate, and the newest cycles."""
    from infra.cli import retrain_commands

    execute(retrain_commands.list_cycles)


@app.command()
def show(
    cycle: CycleId, follow: Annotated[bool, typer.Option("--follow", help="Go on until the cycle has ended or waits.")] = False
) -> None:
    """Print what happened in a cycle."""
    from infra.cli import retrain_commands

    execute(lambda settings: retrain_commands.show(settings, cycle, follow))


@app.command()
def approve(cycle: CycleId, step: Annotated[str, typer.Argument(help="Such as rubric.canary.")], reason: Reason) -> None:
    """Agree to a step that waits for a person."""
    from infra.cli import retrain_commands

    execute(lambda settings: retrain_commands.approve(settings, cycle, step, reason))


@app.command()
def pause(cycle: CycleId, reason: Reason) -> None:
    """End the step in hand, which saves what it has, until the cycle goes on."""
    from infra.cli import retrain_commands

    execute(lambda settings: retrain_commands.wish(settings, cycle, CycleWish.PAUSE, reason))


@app.command()
def go(cycle: CycleId, reason: Reason) -> None:
    """Let a paused cycle go on."""
    from infra.cli import retrain_commands

    execute(lambda settings: retrain_commands.wish(settings, cycle, CycleWish.GO, reason))


@app.command()
def stop(
    cycle: CycleId, reason: Reason, after: Annotated[bool, typer.Option("--after-step", help="Let the step in hand end.")] = False
) -> None:
    """End a cycle for good."""
    from infra.cli import retrain_commands

    wish = CycleWish.STOP_AFTER if after else CycleWish.STOP
    execute(lambda settings: retrain_commands.wish(settings, cycle, wish, reason))
