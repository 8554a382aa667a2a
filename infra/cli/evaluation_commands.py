"""Do the work of `rubrica eval`."""

from collections.abc import Sequence
from pathlib import Path
from uuid import UUID

from app.domain.errors import InvalidInput
from app.settings import Settings
from infra.cli.evaluation_fleet import open_deployment
from infra.cli.execute import FAILED, say
from infra.local.home import Home
from infra.local.lock import FileLock, read_state
from training.evaluation.benchmarks.catalogue import LOCATIONS, load_benchmark
from training.evaluation.harness.comparison import Difference, compare_runs, require_comparable, word_verdict
from training.evaluation.harness.difference_page import render_difference_page
from training.evaluation.harness.evaluation_loop import EvaluationProgress
from training.evaluation.harness.figures import estimate_figures
from training.evaluation.harness.limits_page import estimate_main_figure, render_limits_page, require_one_system
from training.evaluation.harness.run_page import MICRO, read_record, render_page
from training.evaluation.harness.run_request import RunRequest
from training.evaluation.harness.starting import run_benchmark as work
from training.pages.markup import format_interval, format_number

REPORT = "report.html"


def show_benchmarks() -> int:
    """Print one line for each benchmark."""
    for name in LOCATIONS:
        found = load_benchmark(name)
        ways = f" (--variant {', '.join(found.variants)})" if len(found.variants) > 1 else ""
        print(f"{name:16} {found.about}{ways}")
    return 0


async def run_and_report(settings: Settings, request: RunRequest, organisation: UUID) -> int:
    """Run a benchmark, print each item as it ends, then report. The runs of a fleet belong to `organisation`."""
    if request.fleet:
        async with open_deployment(settings, organisation) as found:
            say("the fleet goes on when this command ends: repeat it to follow, `rubrica eval fleet` pauses or cancels")
            await work(settings, request, _say_progress, found)
    else:
        say("opening models and indexes; an index that is missing is built first, which takes minutes")
        await work(_use_running_index(settings), request, _say_progress)
    return show_report(request.out)


def show_report(folder: Path) -> int:
    """Print the figures and write the page. Return `FAILED` when items have no scores."""
    record = read_record(folder)
    found = load_benchmark(record.manifest.benchmark)
    for figure in estimate_figures(found.figures, record.scored):
        print(f"{figure.name:22} {format_number(figure.value):>8}  {format_interval(figure.interval)}  ({figure.items} items)")
    answering, judging = record.answering, record.judging
    cost = (answering.cost_microusd + judging.cost_microusd) / MICRO
    print(f"{answering.model_calls} calls to answer, {judging.model_calls} to judge, US$ {cost:.4f}")
    _write_page(folder / REPORT, render_page(record, found))
    print(folder / REPORT)
    for item, why in record.problems.items():
        say(f"{item}: {why}")
    return FAILED if record.problems else 0


def compare_folders(first: Path, second: Path, out: Path | None) -> int:
    """Print the differences of two runs, and write a page of them to `out`."""
    one, other = read_record(first), read_record(second)
    require_comparable(one.manifest, other.manifest)
    found = compare_runs(load_benchmark(one.manifest.benchmark), one.scored, other.scored)
    _print_differences(found)
    if one.manifest.code != other.manifest.code:
        say("the two runs were made with different code")
    if out is not None:
        _write_page(out, render_difference_page(one.manifest, other.manifest, found))
    return 0


def compare_limits(folders: Sequence[Path], out: Path) -> int:
    """Print one line for each run and write the page."""
    records = [read_record(folder) for folder in folders]
    require_one_system([record.manifest for record in records])
    found = load_benchmark(records[0].manifest.benchmark)
    for folder, record in zip(folders, records, strict=True):
        main, caps = estimate_main_figure(record, found), record.manifest.system.caps
        caps_text = f"calls {caps.calls or '-'} context {caps.context or '-'}"
        print(f"{main.name} {format_number(main.value):>8}  {format_interval(main.interval)}  {caps_text}  {folder}")
    _write_page(out, render_limits_page(records, found))
    print(out)
    return 0


def _print_differences(found: Sequence[Difference]) -> None:
    print(f"{'figure':22} {'first':>8} {'second':>8} {'diff.':>8}  95% interval")
    for d in found:
        clear = " *" if d.clear else ""
        print(
            f"{d.name:22} {format_number(d.first):>8} {format_number(d.second):>8} {format_number(d.difference):>8}  "
            f"{format_interval(d.interval)} ({d.items} items){clear}"
        )
    print(f"{word_verdict(found)} (*: the interval leaves zero out)")


def _say_progress(progress: EvaluationProgress) -> None:
    say(f"[{progress.done}/{progress.of}] {progress.item}{f': {progress.problem}' if progress.problem else ''}")


def _use_running_index(settings: Settings) -> Settings:
    """Point the settings to the retrieval service of a stack that runs on this home, since it has the indexes open."""
    home = Home(settings.home)
    if settings.retrieval_url is not None or not home.lock.exists() or not FileLock(home.lock).is_held_by_another():
        return settings
    state = read_state(home.state)
    return settings.model_copy(update={"retrieval_url": state.retrieval}) if state and state.retrieval else settings


def _write_page(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InvalidInput(f"{path} cannot be written: {error.strerror}") from error
