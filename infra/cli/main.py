"""The `rubrica` command. The work of a subcommand is imported when it runs, so that help appears at once."""

from pathlib import Path
from typing import Annotated

import typer

from app.domain.query import Effort, Language
from infra.cli import (
    admin,
    collections,
    corpus,
    data,
    evaluation,
    mcp_commands,
    models,
    preferences,
    registry,
    retrain,
    run_options,
    runs,
)
from infra.cli.execute import execute, leave_with
from infra.cli.run_options import MaxCost, MaxMinutes, MaxTokens, build_budget

REPORTS = Path("reports")
# The services parse their own options.
EXTRA_OPTIONS = {"allow_extra_args": True, "ignore_unknown_options": True}

app = typer.Typer(
    help="From a question to a cited report. State is kept in RUBRICA_HOME (default: .rubrica).",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.add_typer(runs.app, name="runs")
app.add_typer(corpus.app, name="corpus")
app.add_typer(collections.app, name="collections")
app.add_typer(models.app, name="models")
app.add_typer(registry.app, name="registry")
app.add_typer(preferences.app, name="preferences")
app.add_typer(admin.app, name="admin")
app.add_typer(evaluation.app, name="eval")
app.add_typer(data.app, name="data")
app.add_typer(retrain.app, name="retrain")
app.add_typer(mcp_commands.app, name="mcp")


def parse_folder(text: str) -> Path:
    """Return an existing folder, resolved. It expands `~`, which shells leave alone in `DOCS=~/notes`."""
    path = Path(text).expanduser().resolve()
    if not path.is_dir():
        raise typer.BadParameter(f"{text!r} is not a folder; name one with your files")
    return path


Docs = Annotated[
    Path | None, typer.Option(parser=parse_folder, metavar="FOLDER", help="Research these files instead of the corpus.")
]
Out = Annotated[Path, typer.Option(help="Folder for reports; each run gets its own folder in it.")]


@app.command()
def up(no_ui: Annotated[bool, typer.Option("--no-ui", help="Without the web page.")] = False) -> None:
    """Run API, worker and page here, until Ctrl-C."""
    from infra.cli.up import run_stack as work

    execute(lambda settings: work(settings, with_ui=not no_ui))


@app.command()
def ask(
    question: Annotated[str, typer.Argument(help="What you want to know.")],
    docs: Docs = None,
    effort: Annotated[Effort | None, typer.Option(help="How far the agents go.")] = None,
    language: Annotated[Language | None, typer.Option(help="Language of the report; default: the question's.")] = None,
    out: Out = REPORTS,
    max_tokens: MaxTokens = None,
    max_cost: MaxCost = None,
    max_minutes: MaxMinutes = None,
    length: run_options.Lengths = None,
    tone: run_options.Tones = None,
    audience: run_options.Audience = "",
    form: run_options.Format = None,
    writer: run_options.Writer = None,
    published_from: run_options.From = None,
    published_to: run_options.To = None,
    source: run_options.Sources = None,
    collection: run_options.Collections = None,
    allow_domain: run_options.Allowed = None,
    refuse_domain: run_options.Refused = None,
    allow_tool: run_options.AllowTool = None,
    approve_plan: run_options.ApprovePlan = False,
    rubric: run_options.Rubric = False,
) -> None:
    """Research a question and write a cited report. Starts what is not running.

    Exit codes: 0 report written, 1 the run failed, 2 the input or the machine cannot be used, 3 the run is parked, 130 Ctrl-C.
    """
    from infra.cli.ask import AskedQuestion
    from infra.cli.ask import ask as work

    options = run_options.collect_options(
        length=length,
        tone=tone,
        audience=audience,
        format=form,
        composition=writer,
        published_from=published_from,
        published_to=published_to,
        sources=source,
        domains_allowed=allow_domain,
        domains_refused=refuse_domain,
        tools_that_write=allow_tool,
        approve_plan=approve_plan,
        rubric="auto" if rubric else None,
    )
    named, cap = tuple(collection or ()), build_budget(max_tokens, max_cost, max_minutes)
    request = AskedQuestion(question, out, docs, effort, language, cap, named, options)
    execute(lambda settings: work(settings, request))


@app.command(context_settings=EXTRA_OPTIONS)
def api(context: typer.Context) -> None:
    """Run the HTTP API alone, on servers that the settings name (docs/settings.md). Options: --host, --port, --allow-host."""
    from infra.cli.services import API_MODULE, serve

    leave_with(lambda: serve(API_MODULE, context.args))


@app.command(context_settings=EXTRA_OPTIONS)
def worker(context: typer.Context) -> None:
    """Run a worker alone, on servers that the settings name (docs/settings.md)."""
    from infra.cli.services import WORKER_MODULE, serve

    leave_with(lambda: serve(WORKER_MODULE, context.args))


@app.command()
def tools() -> None:
    """List the outside services: which are on, which settings turn the others on, and how their calls went."""
    from infra.cli.tools import show_tools

    execute(show_tools)


@app.command()
def train(
    recipe: Annotated[str, typer.Argument(help="Which recipe (docs/training.md).")],
    config: Annotated[Path, typer.Option(help="Its configuration, a TOML file.")],
    out: Annotated[Path | None, typer.Option(help="The run's folder: a new one, or that of a run to go on with.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Check data, memory and tokens, and train nothing.")] = False,
    models: Annotated[Path | None, typer.Option(envvar="RUBRICA_MODELS_DIR", help="A folder with base models.")] = None,
) -> None:
    """Train a model by a recipe, on sets of `rubrica data make`. The same command goes on where it was cut off.

    Exit codes: 0 trained, 1 failed, 2 the input or the machine cannot be used, 4 nothing was left to learn before the last step
    (the model is saved), 130 Ctrl-C and 143 SIGTERM: stopped after a step that is saved.
    """
    from infra.cli.training import check, train_and_report

    if dry_run:
        leave_with(lambda: check(recipe, config, models))
    if out is None:
        raise typer.BadParameter("name the run's folder", param_hint="--out")
    leave_with(lambda: train_and_report(recipe, config, out, models))


@app.command()
def merge_adapter(
    run: Annotated[Path, typer.Argument(help="The folder of a finished run of `rubrica train`.")],
    out: Annotated[Path, typer.Option(help="A new folder for the weights.")],
    unimproved: Annotated[bool, typer.Option("--unimproved", help="Also where no step was better than the beginning.")] = False,
) -> None:
    """Merge the adapter that a run trained into its base: whole weights, for serving or for the next recipe."""
    from infra.cli.training import merge

    leave_with(lambda: merge(run, out, unimproved))


@app.command()
def migrate() -> None:
    """Bring the database's schema up to date."""
    from infra.cli.services import migrate as work

    execute(work)


def main() -> None:
    """Run the `rubrica` script."""
    app(prog_name="rubrica")


if __name__ == "__main__":
    main()
