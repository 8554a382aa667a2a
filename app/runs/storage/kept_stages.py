"""What a run keeps of a stage that has ended, for whoever asks that stage's agent again."""

from typing import NamedTuple
from uuid import UUID

from app.database.engine import Executor, translate_outages
from app.domain.budget import Usage
from app.domain.errors import NotFound

# A log that was deleted tells no usage; a second report has the stages of the first, and tells what its own used.
KEPT = """
    SELECT (SELECT result FROM stages WHERE run_id = r.id AND stage = $2 AND done) AS result,
           (SELECT payload ->> 'usage' FROM events WHERE run_id = r.id AND type = 'stage_finished' AND payload ->> 'stage' = $2
            ORDER BY seq DESC LIMIT 1) AS usage,
           ARRAY(SELECT text FROM notes WHERE run_id = r.id ORDER BY seq) AS notes
    FROM runs r WHERE r.id = $1"""


class KeptStage(NamedTuple):
    """The result of a stage and what it used, None where they are not known, and the reader's notes of its run."""

    result: bytes | None
    usage: Usage | None
    notes: tuple[str, ...]


async def get(database: Executor, run_id: UUID, stage: str) -> KeptStage:
    """Return what is kept of a stage.

    Raises:
        NotFound: there is no such run.
    """
    async with translate_outages():
        row = await database.fetchrow(KEPT, run_id, stage)
    if row is None:
        raise NotFound(f"there is no run {run_id}")
    usage = Usage.of_any_version(row["usage"]) if row["usage"] else None
    return KeptStage(row["result"], usage, tuple(row["notes"]))
