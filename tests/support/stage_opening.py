"""Opens one stage as a worker opens it, for tests that need a run with something in it."""

from collections.abc import Sequence
from uuid import UUID

from app.runs.storage.run_log import Reservation, RunLog
from app.runs.storage.stage_openings import StageOpening, WantedStage, open_stages


async def open_stage(
    log: RunLog, run_id: UUID, stage: str, reservation: Reservation | None, title: str = "", needs: Sequence[str] = ()
) -> StageOpening:
    """Open one stage through the log's own connection: see `open_stages`. `needs` names stages whose results it reads."""
    [opening] = await open_stages(log.executor, run_id, (WantedStage(stage, title, needs),), reservation)
    return opening
