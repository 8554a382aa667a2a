"""The opening of stages: one statement for all that begin together, so that they wait for their run's ledger row once."""

from collections.abc import Sequence
from datetime import date
from typing import NamedTuple
from uuid import UUID

import orjson
from asyncpg import Record

from app.database.engine import Executor, translate_outages
from app.domain.contract import Halt
from app.domain.errors import NotFound
from app.domain.trajectory import Turn

OPEN_STAGES = """
    SELECT opened.* FROM unnest($2::text[], $3::text[], $4::text[]) WITH ORDINALITY AS wanted (stage, title, needs, place),
        LATERAL open_stage($1, wanted.stage, wanted.title, $5, $6,
                           ARRAY(SELECT json_array_elements_text(wanted.needs::json))) AS opened
    ORDER BY wanted.place"""


class WantedStage(NamedTuple):
    """A stage to open, the title its `stage_started` tells, and the stages whose results it reads."""

    stage: str
    title: str = ""
    needs: Sequence[str] = ()


class StageOpening(NamedTuple):
    """A stage as found. With `result` set it is finished and nothing is to be done.

    `attempt` goes into every later call of this attempt; `turns` are in the order of storing, none of a finished stage; `notes`
    were pinned when the stage was first opened. The stage may begin when `halt` is none; `granted` tells whether the first
    reservation was made. `needed` are the results of the stages asked for, in that order. `asked_on` is the day (UTC) on which
    the run was created.
    """

    result: bytes | None
    turns: list[Turn]
    notes: tuple[str, ...]
    halt: Halt
    granted: bool
    attempt: int
    needed: list[bytes | None]
    asked_on: date
    capped: bool


async def open_stages(
    database: Executor, run_id: UUID, wanted: Sequence[WantedStage], reservation: tuple[int, int] | None
) -> list[StageOpening]:
    """Open these stages of a run in one transaction, or again after their worker died; `reservation` is what each makes.

    A dead attempt's reservations are released. Appends `stage_started` for each unless it is finished or must halt. Without a
    reservation (tokens, millionths of a US dollar) the budget is not asked.

    Raises:
        NotFound: no such run.
        Unavailable: the database does not answer.
    """
    stages, titles = [each.stage for each in wanted], [each.title for each in wanted]
    needs = [orjson.dumps(list(each.needs)).decode() for each in wanted]
    tokens, cost = reservation or (None, None)
    async with translate_outages():
        rows = await database.fetch(OPEN_STAGES, run_id, stages, titles, needs, tokens, cost)
    if len(rows) != len(wanted) or any(row["halt"] is None for row in rows):
        raise NotFound(f"there is no run {run_id}")
    return [_opening_of(row) for row in rows]


def _opening_of(row: Record) -> StageOpening:
    turns = [Turn.of_any_version(body) for body in row["turns"] or ()] if row["result"] is None else []
    return StageOpening(
        row["result"],
        turns,
        tuple(row["notes"] or ()),
        Halt(row["halt"]),
        row["granted"],
        row["attempt"],
        list(row["needed"] or ()),
        row["asked_on"],
        row["capped"],
    )
