"""`rubrica registry`: versions of trained models, over the database of the deployment. The operator of the machine uses it."""

from pathlib import Path
from typing import Annotated

import typer

from app.domain.model_versions import ErasurePolicy
from app.domain.served_models import ModelRole, Notation
from infra.cli.execute import execute

app = typer.Typer(help="Versions of trained models, and which of them serve.", no_args_is_help=True, rich_markup_mode=None)


def require_reason(text: str) -> str:
    """Return a reason that says something."""
    if not text.strip():
        raise typer.BadParameter("say why, in some words")
    return text.strip()


Version = Annotated[str, typer.Argument(help="A version, such as writer-v3, or its id.")]
Role = Annotated[ModelRole, typer.Argument(help="The role.")]
Reason = Annotated[str, typer.Option(help="Why; it is kept.", callback=require_reason)]
KeyFile = Annotated[Path | None, typer.Option(help="The key of the pseudonyms; default: the one in RUBRICA_HOME.")]


@app.command("list")
def list_versions(
    role: Annotated[ModelRole | None, typer.Option(help="Only this role's.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000)] = 50,
) -> None:
    """Print what serves each role, and the newest versions."""
    from infra.cli import registry_commands

    execute(lambda settings: registry_commands.list_versions(settings, role, limit))


@app.command()
def show(version: Version) -> None:
    """Print all that is known of a version."""
    from infra.cli import registry_commands

    execute(lambda settings: registry_commands.show(settings, version))


@app.command()
def add(
    folder: Annotated[Path, typer.Argument(help="The folder of a run of `rubrica train`, or of a model alone.")],
    role: Annotated[ModelRole, typer.Option(help="What it was trained for.")],
    reason: Reason,
    recipe: Annotated[str, typer.Option(help="How it was trained; default: as the run's folder says.")] = "",
    base: Annotated[str, typer.Option(help="What it was trained on; default: as the run's folder says.")] = "",
    licence: Annotated[str, typer.Option(help="The licence of the base; default: as the base's own card says.")] = "",
    notation: Annotated[Notation, typer.Option(help="How it was trained to answer.")] = Notation.TAGS,
    parent: Annotated[str, typer.Option(help="The version that it was trained from.")] = "",
    on_erasure: Annotated[
        ErasurePolicy, typer.Option(help="What is done when judgements that it learned from are erased.")
    ] = ErasurePolicy.RETRAIN,
    also: Annotated[list[ModelRole] | None, typer.Option(help="A further role that it is meant for (repeatable).")] = None,
    sets: Annotated[
        list[Path] | None,
        typer.Option("--set", help="Where a set lies that it learned from (repeatable); default: where it lay."),
    ] = None,
    key_file: KeyFile = None,
) -> None:
    """Bring in what was trained: copy the model to the artifacts, and add a version. Prints its name."""
    from infra.cli.registry_adding import AddedFolder
    from infra.cli.registry_adding import add as work

    roles = (role, *(also or ()))
    asked = AddedFolder(folder, roles, reason, recipe, base, licence, notation, parent, on_erasure, tuple(sets or ()), key_file)
    execute(lambda settings: work(settings, asked))


@app.command()
def serve(
    version: Version,
    address: Annotated[str, typer.Option(help="The OpenAI-compatible server that has it, with its /v1.")],
    name: Annotated[str, typer.Option(help="The name by which that server knows it; default: the version's.")] = "",
    key_setting: Annotated[str, typer.Option(help="The environment variable with the server's key.")] = "",
    context: Annotated[int, typer.Option(min=0, help="Its context in tokens; 0: not known.")] = 0,
    temperature: Annotated[
        float | None, typer.Option(min=0, max=2, help="The temperature at which it is asked; default: each step's own.")
    ] = None,
    input_price: Annotated[float, typer.Option(min=0, help="US$ per million input tokens.")] = 0,
    output_price: Annotated[float, typer.Option(min=0, help="US$ per million output tokens.")] = 0,
) -> None:
    """Say where a version is served. It gets no run before it is promoted."""
    from infra.cli import registry_commands

    execute(
        lambda settings: registry_commands.serve(
            settings, version, address, name, key_setting, context, temperature, input_price, output_price
        )
    )


@app.command()
def promote(
    version: Version,
    reason: Reason,
    served: Annotated[str, typer.Option(help="The served model of this version; default: the one of its name.")] = "",
    unasked: Annotated[bool, typer.Option("--unasked", help="Do not ask its server for it first.")] = False,
) -> None:
    """Let a version serve its role: its server is asked once, and new runs get it. The version before retires."""
    from infra.cli import registry_commands

    execute(lambda settings: registry_commands.promote(settings, version, served, reason, unasked))


@app.command()
def hold(role: Role, reason: Reason) -> None:
    """Let no cycle move a role until it is released. A canary that runs there stops."""
    from infra.cli import registry_commands

    execute(lambda settings: registry_commands.hold(settings, role, reason))


@app.command()
def release(role: Role, reason: Reason) -> None:
    """Let cycles move a role again."""
    from infra.cli import registry_commands

    execute(lambda settings: registry_commands.release(settings, role, reason))


@app.command()
def back(role: Role, reason: Reason) -> None:
    """Give a role back to the model that had it before."""
    from infra.cli import registry_commands

    execute(lambda settings: registry_commands.go_back(settings, role, reason))


@app.command()
def withdraw(version: Version, reason: Reason) -> None:
    """Withdraw a version for good. Where it serves, the model before it serves again."""
    from infra.cli import registry_commands

    execute(lambda settings: registry_commands.withdraw(settings, version, reason))


@app.command()
def card(
    version: Version,
    out: Annotated[Path | None, typer.Option(help="A file: .md or .html, which has the curves; default: print Markdown.")] = None,
) -> None:
    """Print the model card of a version, or write it."""
    from infra.cli.registry_card import write_card

    execute(lambda settings: write_card(settings, version, out))


@app.command()
def erased(key_file: KeyFile = None) -> None:
    """Do for each version that learned from what was erased since, or is no longer agreed to, what the version says.

    Exit codes: 0 all were dealt with, 1 some could not be, for a reason that is told.
    """
    from infra.cli.registry_erasure import carry_out

    execute(lambda settings: carry_out(settings, key_file))


@app.command()
def export(
    version: Version,
    mlflow: Annotated[str, typer.Option(metavar="URL", help="MLflow's server; token: MLFLOW_TRACKING_TOKEN.")],
) -> None:
    """Bring a version into MLflow's registry: a registered model for its role, a version, and tags."""
    from infra.cli.registry_export import export as work

    execute(lambda settings: work(settings, version, mlflow))
