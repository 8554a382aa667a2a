"""Do the work of `rubrica runs ...`."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from app.domain.budget import Budget
from app.domain.errors import InvalidInput, NotFound, SetupError
from app.domain.plan import ResearchPlan
from app.domain.rubric import Rubric
from app.exports.nouns import ExportFormat
from app.settings import Settings
from infra.cli.connection import open_connection
from infra.cli.execute import say
from infra.cli.progress import as_one_line
from infra.cli.run_summaries import describe_scorecard
from infra.cli.watch import follow_run
from infra.cli.written_files import locate_file
from rubrica_client import AsyncClient, asking, models, reports, runs
from rubrica_client.models import Criterion, Run, Subtask
from rubrica_client.request import Request

FULL_ID = 36
PAGE_SIZE = 100
REFERENCES = (ExportFormat.BIBTEX, ExportFormat.RIS, ExportFormat.CSL)


@dataclass(frozen=True)
class RunChanges:
    """The changes that `runs steer` makes."""

    note: str | None = None
    add: str | None = None
    drop: str | None = None
    plan: Path | None = None
    budget: Budget | None = None

    @property
    def empty(self) -> bool:
        """True when there is no change."""
        return not any((self.note, self.add, self.drop, self.plan, self.budget))


async def show_runs(settings: Settings, limit: int) -> int:
    """Print one line for each run."""
    async with open_connection(settings, say) as connection:
        for run in (await connection.api.send(runs.list_(limit))).items:
            when = run.created_at.astimezone().strftime("%Y-%m-%d %H:%M")
            print(f"{run.id}  {when}  {run.status.value:14}  {as_one_line(run.query.question)[:80]}")
    return 0


async def show_run(settings: Settings, run_id: str) -> int:
    """Print the question, status, use and plan of a run."""
    async with open_connection(settings, say) as connection:
        print(_describe_run(await find_run(connection.api, run_id)))
    return 0


async def watch(settings: Settings, run_id: str, out: Path) -> int:
    """Follow a run and write its report."""
    async with open_connection(settings, say) as connection:
        return await follow_run(connection, await find_run(connection.api, run_id), out)


async def pause(settings: Settings, run_id: str) -> int:
    """Pause a run after its current turn."""
    return await _send_command(settings, run_id, "pause", runs.pause)


async def cancel(settings: Settings, run_id: str) -> int:
    """End a run for good."""
    return await _send_command(settings, run_id, "cancel", runs.cancel)


async def _send_command(settings: Settings, run_id: str, command: str, call: Callable[[str], Request[Run]]) -> int:
    async with open_connection(settings, say) as connection:
        run = await find_run(connection.api, run_id)
        await connection.api.send(call(run.id))
        print(f"run {run.id}: {command} requested")
    return 0


async def save_tape(settings: Settings, run_id: str, path: Path) -> int:
    """Save the results of a run's tools."""
    async with open_connection(settings, say) as connection:
        run = await find_run(connection.api, run_id)
        await _write_file(path, await connection.api.send(runs.tape(run.id)), "name another")
        print(path)
    return 0


async def export(settings: Settings, run_id: str, form: ExportFormat, path: Path | None) -> int:
    """Write a report, or its sources, in this form."""
    async with open_connection(settings, say) as connection:
        run = await find_run(connection.api, run_id)
        content = await connection.api.send(reports.export(run.id, form))
    name = f"{'sources' if form in REFERENCES else 'report'}.{form.extension}"
    target = path or locate_file(Path("reports"), run.id, name)
    await _write_file(target, content, "choose another with --file")
    print(target)
    return 0


async def _write_file(path: Path, content: bytes, advice: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        await asyncio.to_thread(path.write_bytes, content)
    except OSError as error:
        raise SetupError(f"{path} cannot be written: {error.strerror}; {advice}") from error


async def resume(settings: Settings, run_id: str, finish: bool, present_models: bool, out: Path) -> int:
    """Resume a parked run and follow it."""
    async with open_connection(settings, say) as connection:
        run = await find_run(connection.api, run_id)
        await connection.api.send(runs.resume(run.id, finish=finish, present_models=present_models))
        return await follow_run(connection, run, out, resumed=True)


async def approve(settings: Settings, run_id: str, out: Path) -> int:
    """Approve a run's plan and follow the run."""
    async with open_connection(settings, say) as connection:
        run = await find_run(connection.api, run_id)
        await connection.api.send(runs.approve(run.id))
        return await follow_run(connection, run, out, resumed=True)


async def steer(settings: Settings, run_id: str, steering: RunChanges) -> int:
    """Apply each change, up to the first that the API refuses."""
    if steering.empty:
        raise InvalidInput("nothing to change; say what with --note, --add, --drop, --plan or --max-...")
    new_plan = _read_plan(steering.plan) if steering.plan else None
    async with open_connection(settings, say) as connection:
        api = connection.api
        run = await find_run(api, run_id)
        if steering.note:
            await api.send(runs.add_note(run.id, steering.note))
        if steering.add:
            await api.send(runs.add_subtask(run.id, _make_subtask(run, steering.add)))
        if steering.drop:
            await api.send(runs.drop_subtask(run.id, steering.drop))
        if new_plan:
            await api.send(runs.revise_plan(run.id, new_plan))
        if steering.budget:
            named = steering.budget.model_dump(exclude_none=True)
            await api.send(runs.set_budget(run.id, run.budget.model_copy(update=named)))
        print(f"run {run.id}: changed")
    return 0


async def show_rubric(settings: Settings, run_id: str, edit: Path | None) -> int:
    """Print the criteria of a run, in the form that `--edit` takes. With `edit`, replace them first."""
    criteria = _read_criteria(edit) if edit else None
    async with open_connection(settings, say) as connection:
        name = (await find_run(connection.api, run_id)).id
        if criteria is not None:
            await connection.api.send(asking.edit_rubric(name, criteria))
        rubric = (await connection.api.send(asking.rubric(name))).rubric
        if rubric.notice:
            say(rubric.notice)
        print(json.dumps([criterion.model_dump() for criterion in rubric.criteria], indent=1, ensure_ascii=False))
    return 0


async def show_scorecard(settings: Settings, run_id: str) -> int:
    """Print the scorecard of a run."""
    async with open_connection(settings, say) as connection:
        print(describe_scorecard(await connection.api.send(asking.scorecard((await find_run(connection.api, run_id)).id))))
    return 0


async def find_run(api: AsyncClient, run_id: str) -> Run:
    """Return the run with this id, or the only one whose id begins so."""
    if len(run_id) >= FULL_ID:
        return await api.send(runs.get(run_id))
    found = [run async for run in api.each(runs.list_(PAGE_SIZE)) if run.id.startswith(run_id.lower())]
    if len(found) != 1:
        raise NotFound(f"{len(found) or 'no'} runs begin with {run_id!r}; `rubrica runs list` shows the ids of the newest")
    return found[0]


def _describe_run(run: Run) -> str:
    usage = run.usage
    tokens = usage.input_tokens + usage.output_tokens
    lines = [
        f"run       {run.id}",
        f"question  {run.query.question}",
        f"status    {run.status.value} {as_one_line(run.detail)}".rstrip(),
        f"used      {usage.model_calls} model and {usage.tool_calls} tool calls, {tokens:,} tokens, "
        f"US$ {usage.cost_microusd / 1e6:.4f}",
    ]
    for subtask in run.plan.subtasks if run.plan else ():
        after = f" (after {', '.join(subtask.depends_on)})" if subtask.depends_on else ""
        lines.append(f"subtask   {subtask.id}: {as_one_line(subtask.title)}{after}")
    return "\n".join(lines)


def _make_subtask(run: Run, question: str) -> Subtask:
    """Return a subtask with the first id of the form `added1` that the plan neither has nor had."""
    taken = {*(s.id for s in run.plan.subtasks), *(removed.id for removed in run.plan.removed)} if run.plan else set()
    number = next(n for n in range(1, len(taken) + 2) if f"added{n}" not in taken)
    return Subtask(id=f"added{number}", title=question[:200], question=question)


def _read_plan(path: Path) -> models.ResearchPlan:
    """Read a plan, and check it before anything starts."""
    try:
        plan = ResearchPlan.model_validate(json.loads(path.read_text()))
    except (OSError, ValueError, ValidationError) as error:
        raise InvalidInput(f"{path} holds no usable plan: {error}") from error
    return models.ResearchPlan(**plan.model_dump(mode="json"))


def _read_criteria(path: Path) -> list[Criterion]:
    """Read the criteria of a rubric, and check them before anything starts."""
    try:
        rubric = Rubric.model_validate({"criteria": json.loads(path.read_text())})
    except (OSError, ValueError, ValidationError) as error:
        raise InvalidInput(f"{path} holds no usable rubric: {error}") from error
    return [Criterion(**criterion.model_dump()) for criterion in rubric.criteria]
