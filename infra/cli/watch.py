"""Follow a run until it ends or parks, and write its report."""

import asyncio
from contextlib import aclosing
from pathlib import Path

from infra.cli.connection import WATCH_PATIENCE, Connection
from infra.cli.deliver import deliver_report
from infra.cli.display import open_display
from infra.cli.execute import command_name, say
from infra.cli.progress import RunProgress
from infra.cli.run_summaries import describe_scorecard
from infra.local.interrupt import is_ignored, name_stop
from rubrica_client import ApiError, AsyncClient, asking, runs
from rubrica_client.models import EventType, Run, RunStatus

PAUSE_LIMIT_S = 15
PARKED = (RunStatus.PAUSED, RunStatus.BUDGET_REACHED, RunStatus.AWAITING_APPROVAL)

# Exit codes, which a calling script can tell apart.
COMPLETED, RUN_FAILED, PARKED_CODE, INTERRUPTED = 0, 1, 3, 130


async def follow_run(connection: Connection, run: Run, out: Path, resumed: bool = False) -> int:
    """Show progress until the run ends or parks, write the report of a completed one, and return the exit code.

    `resumed` says that the run was resumed after `run` was read: its pause from before that does not end the watching.
    Ctrl-C pauses the run.
    """
    api, run_id = connection.api, run.id
    if is_ignored():
        say(f"this command ignores Ctrl-C, as whatever started it wanted; {name_stop()} pauses the run")
    try:
        progress = await connection.run_while_healthy(_watch_events(api, run, resumed))
    except asyncio.CancelledError:
        _clear_interrupt()
        await _pause_run(api, run_id)
        return INTERRUPTED
    if progress.status is RunStatus.COMPLETED:
        path = await deliver_report(api, run_id, out, run.query.rubric)
        if run.query.rubric:
            print(f"\n{describe_scorecard(await api.send(asking.scorecard(run_id)))}")
        print(f"\n{path}")
        return COMPLETED
    if progress.status in PARKED:
        print(f"\n{_explain_next_steps(run_id, progress, run.query.rubric)}")
        return PARKED_CODE
    print(f"\nthe run ended as {progress.status.value}: {progress.detail or 'no reason was given'}")
    return RUN_FAILED


async def _watch_events(api: AsyncClient, run: Run, resumed: bool) -> RunProgress:
    progress = RunProgress()
    parked_already = run.status in PARKED and not resumed
    screen = open_display(run.id)
    try:
        async with aclosing(api.events(run.id, patience=WATCH_PATIENCE)) as events:
            async for event in events:
                progress.apply(event)
                screen.show(progress, event)
                news = event.type is EventType.STATUS_CHANGED and event.seq > run.last_seq
                if progress.status in PARKED and (news or (parked_already and event.seq >= run.last_seq)):
                    break
            else:
                progress.end_as(await api.send(runs.get(run.id)))
    finally:
        screen.close()
    return progress


async def _pause_run(api: AsyncClient, run_id: str) -> None:
    print(f"\npausing run {run_id} ({name_stop()} again to leave at once; nothing is lost)")
    try:
        await api.send(runs.pause(run_id))
        async with asyncio.timeout(PAUSE_LIMIT_S):
            while (await api.send(runs.get(run_id))).status in (RunStatus.QUEUED, RunStatus.RUNNING):
                await asyncio.sleep(0.2)
    except (ApiError, TimeoutError) as error:
        print(f"it could not be paused ({error or 'no answer in time'}); it goes on when a stack runs again")
    print(f"go on with: {command_name()} runs resume {run_id}")


def _explain_next_steps(run_id: str, progress: RunProgress, with_rubric: bool) -> str:
    reason = progress.detail or progress.status.value.replace("_", " ")
    lines = [f"the run is parked: {reason}. Everything is kept."]
    if progress.status is RunStatus.BUDGET_REACHED:
        lines += [
            f"  finish with what there is:  {command_name()} runs resume {run_id} --finish",
            f"  continue with more:         {command_name()} runs steer {run_id} --max-tokens N (or --max-cost, --max-minutes)",
            f"                              {command_name()} runs resume {run_id}",
        ]
    elif progress.status is RunStatus.AWAITING_APPROVAL:
        lines += [
            f"  look at the plan:  {command_name()} runs show {run_id}",
            *([f"  and the rubric:    {command_name()} runs rubric {run_id} (--edit FILE replaces it)"] if with_rubric else []),
            f"  change it:         {command_name()} runs steer {run_id} --add QUESTION (or --drop ID, --plan FILE)",
            f"  carry it out:      {command_name()} runs approve {run_id}",
        ]
    elif progress.reason:
        lines += [
            f"  when it is mended:        {command_name()} runs resume {run_id}",
            f"  if its model is gone:     {command_name()} runs resume {run_id} --present-models",
            f"  finish without a model:   {command_name()} runs resume {run_id} --finish",
        ]
    else:
        lines.append(f"  go on with: {command_name()} runs resume {run_id}")
    return "\n".join(lines)


def _clear_interrupt() -> None:
    """Clear the interrupt, which the caller acts on: otherwise the loop ends with KeyboardInterrupt."""
    task = asyncio.current_task()
    assert task is not None
    while task.uncancel() > 0:
        continue
