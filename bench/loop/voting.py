"""All that readers say in the story: pairs that are looked at, some votes in haste, and one voice that is heard too often."""

import asyncio
import random
from collections.abc import Sequence
from dataclasses import dataclass

from bench.loop.commands import Tell
from bench.loop.houses import House
from bench.loop.kept import Kept
from bench.loop.plan import Measures
from bench.loop.plant import Question
from bench.loop.reading import HASTE_S, LOOK_S, Asked, ask, compare, share_out, vote

AT_ONCE = 24
TOLD_EVERY = 60


@dataclass(frozen=True, slots=True)
class Votes:
    """How many votes there were, of each manner."""

    looked: int
    hasty: int
    loud: int


async def collect_votes(
    houses: Sequence[House], questions: Sequence[Question], measures: Measures, seed: int, kept: Kept, tell: Tell
) -> Votes:
    """Have all questions asked, compared and voted on. Questions of the first house have a second vote, by its loudest reader.

    What is kept of an earlier attempt is not asked again.
    """
    room, done = asyncio.Semaphore(AT_ONCE), 0

    async def work(number: int, house: House, question: str) -> tuple[Asked, bool]:
        nonlocal done
        reader = house.readers[number % (len(house.readers) - 1)]

        async def ask_for_two() -> str:
            async with room:
                return (await compare(reader, house, question)).id

        asked = Asked(house, await kept.once(f"compared: {question}", ask_for_two))
        voted = await vote(reader, asked, LOOK_S, random.Random(f"{seed} {question}"))
        done += 1
        if done % TOLD_EVERY == 0:
            tell(f"{done} of {len(questions)} questions have their reports and a vote")
        return asked, voted

    shared = share_out([question.text for question in questions], houses, measures.loud)
    told = await asyncio.gather(*(work(n, house, question) for n, (house, question) in enumerate(shared)))
    loud = [asked for asked, _ in told if asked.house is houses[0]]
    hasty = [asked for asked, _ in told if asked.house is not houses[0]][: measures.quick]
    said = [await _vote_again(each, look_s, room, seed) for each, look_s in ((loud, LOOK_S), (hasty, HASTE_S))]
    return Votes(sum(voted for _, voted in told), said[1], said[0])


async def _vote_again(asked: Sequence[Asked], look_s: float, room: asyncio.Semaphore, seed: int) -> int:
    """Have the last reader of each house vote on these too."""

    async def work(each: Asked) -> bool:
        async with room:
            return await vote(each.house.readers[-1], each, look_s, random.Random(f"{seed} again {each.id}"))

    return sum(await asyncio.gather(*map(work, asked)))


async def keep_asking(houses: Sequence[House], questions: Sequence[Question], over: asyncio.Event) -> int:
    """Have all houses go on asking until it is over; return the number of runs."""
    left, count = iter(questions), 0

    async def work(house: House) -> None:
        nonlocal count
        while not over.is_set() and (question := next(left, None)) is not None:
            await ask(house.readers[0], house, question.text)
            count += 1

    await asyncio.gather(*map(work, houses))
    return count
