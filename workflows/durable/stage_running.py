"""Running stages in an activity: heartbeats, reuse of a stored result, and errors in the form that Temporal needs."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from functools import partial
from typing import TypeVar

from temporalio import activity
from temporalio.exceptions import ApplicationError

from app.domain.contract import Halt
from app.domain.run import RunStatus
from app.runs.storage.run_log import NOTHING
from app.runs.storage.stage_openings import StageOpening, WantedStage, open_stages
from retrieval.outside.meter import count_for
from workflows.durable import policies
from workflows.durable.failures import RunHalted, WorkerStopping, make_final_failure, make_halted_failure, make_stopping_failure
from workflows.durable.gone_models import explain_refusal
from workflows.durable.payloads import StageRequest
from workflows.durable.persistence import persist
from workflows.durable.recording import DurableRecord
from workflows.durable.stage_ledger import StageLedger
from workflows.durable.workshop import StageAttempt, Workshop

R = TypeVar("R")
log = logging.getLogger(__name__)


async def perform_stage(
    shop: Workshop,
    request: StageRequest,
    stage: str,
    title: str,
    needs: Sequence[str],
    work: Callable[[StageAttempt], Awaitable[R]],
    stored: Callable[[bytes], R],
) -> R:
    """Run the only stage of an activity: see `perform_open_stage`."""
    wanted = WantedStage(stage, title, needs)
    async with report_work(shop, request):
        [opening] = await open_stages_of(shop, request, (wanted,))
        return await perform_open_stage(shop, request, wanted, opening, work, stored)


@contextlib.asynccontextmanager
async def report_work(shop: Workshop, request: StageRequest) -> AsyncIterator[None]:
    """Send heartbeats while the stages of an activity run, and mark the run as running."""
    async with send_heartbeats():
        if request.begins:
            await persist(lambda: shop.log.set_status(request.run_id, RunStatus.RUNNING))
        yield


async def open_stages_of(shop: Workshop, request: StageRequest, wanted: Sequence[WantedStage]) -> list[StageOpening]:
    """Open the stages of an activity together, each with the first reservation of its agent."""
    first = shop.reserve_first(request.finish)
    await shop.rooms.room_of(request.run_id).wait_until_stored(one.stage for one in wanted)
    return await persist(lambda: open_stages(shop.database, request.run_id, wanted, first))


async def perform_open_stage(
    shop: Workshop,
    request: StageRequest,
    wanted: WantedStage,
    opening: StageOpening,
    work: Callable[[StageAttempt], Awaitable[R]],
    stored: Callable[[bytes], R],
) -> R:
    """Return an open stage's stored result, or run `work`, which closes the stage itself, and return its result.

    Raises:
        ApplicationError: the run halts (never retried), or this worker is stopping (retried elsewhere).
    """
    if opening.result is not None:
        return stored(opening.result)
    stage, first = wanted.stage, shop.reserve_first(request.finish)
    ledger = StageLedger(
        shop.log,
        request.run_id,
        stage,
        opening.attempt,
        shop.rooms.room_of(request.run_id),
        lambda name: shop.models.find_known(name).prices,
        activity.is_worker_shutdown,
        first=first if opening.granted and first is not None else NOTHING,
        finish=request.finish,
        capped=opening.capped,
        halt=opening.halt,
    )
    explain = partial(explain_refusal, shop.database, request.query.models)
    record = DurableRecord(ledger, opening.turns, shop.model_circuits.__getitem__, shop.index_circuit, shop.silence_of, explain)
    models = await shop.open_models(request.query)
    attempt = StageAttempt(shop, request, stage, wanted.title, opening, ledger, record, models)
    with count_for(request.run_id):
        return await _run_guarded(ledger, record, lambda: work(attempt))


async def _run_guarded(ledger: StageLedger, record: DurableRecord, work: Callable[[], Awaitable[R]]) -> R:
    """Run the agent. On a halt, first wait until the turns under way are stored; on a cancellation, give them up.

    When another attempt replaces this one, calls in flight go on: the next attempt takes them over if it runs here.
    """
    watching = asyncio.create_task(_interrupt_calls(ledger, record))
    try:
        if ledger.halt in (Halt.PAUSE, Halt.CANCEL):
            raise RunHalted(ledger.halt)
        result = await work()
    except asyncio.CancelledError:
        if _is_replaced():
            ledger.room.keep(_let_calls_end(ledger, record))
        else:
            record.abort()
        raise
    except (RunHalted, WorkerStopping) as stop:
        await record.drain(policies.DRAIN_LIMIT)
        await ledger.release()
        raise _failure_of(stop) from None
    except ApplicationError:
        raise
    except Exception as error:
        log.exception("run %s: the stage %s failed", ledger.run_id, ledger.stage)
        await ledger.release()
        raise make_final_failure(error) from error
    finally:
        watching.cancel()
    return result


def _is_replaced() -> bool:
    """Return whether Temporal has given up on this attempt, as after a silence of its worker."""
    told = activity.cancellation_details()
    return told is not None and (told.timed_out or told.not_found) and not told.cancel_requested


async def _let_calls_end(ledger: StageLedger, record: DurableRecord) -> None:
    """Let the calls in flight of a replaced attempt end, unless the run does. What no other attempt takes over is billed."""
    if await ledger.find_interruption():
        record.abort()
    watching = asyncio.create_task(_interrupt_calls(ledger, record))
    await record.drain(policies.DRAIN_LIMIT)
    watching.cancel()


async def _interrupt_calls(ledger: StageLedger, record: DurableRecord) -> None:
    """End the calls in flight when the run is paused, cancelled, or out of time. Those that answer within the grace are kept.

    The stages of a run share the first look, which costs a statement; the second one is of this moment.
    """
    while True:
        await asyncio.sleep(policies.HALT_POLL.total_seconds())
        if await ledger.find_interruption(oldest=policies.HALT_POLL / 2):
            await asyncio.sleep(policies.CALL_GRACE.total_seconds())
            if halted := await ledger.find_interruption():
                record.interrupt(halted)


def _failure_of(stop: RunHalted | WorkerStopping) -> BaseException:
    """Return the failure for a stop. A superseded attempt counts as a stopping worker: a newer attempt goes on."""
    if isinstance(stop, RunHalted) and stop.halt is not Halt.SUPERSEDED:
        return make_halted_failure(stop.halt, stop.reason)
    return make_stopping_failure()


@contextlib.asynccontextmanager
async def send_heartbeats() -> AsyncIterator[None]:
    """Tell Temporal that this worker lives while the body runs."""

    async def beat() -> None:
        while True:
            await asyncio.sleep(policies.HEARTBEAT_EVERY.total_seconds())
            activity.heartbeat()

    beating = asyncio.create_task(beat())
    try:
        yield
    finally:
        beating.cancel()
