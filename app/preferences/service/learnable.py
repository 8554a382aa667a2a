"""How much there is to learn from now: counted in the database, without an export."""

from collections.abc import Mapping
from datetime import datetime

import asyncpg

from app.comparisons.service.comparisons import CHANGEABLE_FOR
from app.domain.split import Split
from app.domain.value import Value
from app.preferences.service.held_out import hold_out_newest, name_query
from app.preferences.storage.learnable import count_by_question


class LearnableVotes(Value):
    """The votes that an export made now would have.

    `pairs` decide between two reports and took long enough, by `readers`. `rows` counts the pairs of reports among them whose
    question is not held out. `quick` votes took less than the least time.
    """

    pairs: int
    readers: int
    rows: int
    quick: int


async def count_learnable(
    database: asyncpg.Pool, since: datetime, now: datetime, least_seconds: float, held_out: Mapping[Split, float]
) -> LearnableVotes:
    """Count what was said since then and is consented to now. It is an estimate: a cycle's checks may leave out more.

    Raises:
        Unavailable: the database does not answer.
    """
    found = await count_by_question(database, since, now, CHANGEABLE_FOR, least_seconds)
    sides = hold_out_newest(((each.question, each.asked_at) for each in found), held_out)
    return LearnableVotes(
        pairs=sum(each.pairs for each in found),
        readers=len({reader for each in found for reader in each.readers}),
        rows=sum(each.compared for each in found if sides[name_query(each.question)] is Split.TRAIN),
        quick=sum(each.quick for each in found),
    )
