"""What readers do: they ask, have a second report written, look at both, and say which is the better one."""

import asyncio
import random
from collections.abc import Sequence
from dataclasses import dataclass

from bench.client import watch
from bench.loop.houses import House, Reader
from bench.loop.plant import choose_writer, read_wanted, see_features
from rubrica_client import AsyncClient, NewRun, preferences, runs
from rubrica_client.models import (
    ChoiceVerdict,
    ComparisonStatus,
    ComparisonView,
    Composition,
    Effort,
    NewChoice,
    WriterSettings,
)

POLL_S = 0.5
NOISE = 0.08
"""The share of votes that go against what is planted."""
LOOK_S, HASTE_S = 3.2, 0.0
STRENGTH = 2


@dataclass(frozen=True, slots=True)
class Asked:
    """A comparison that is ready, with the house in which it was asked for."""

    house: House
    id: str


async def ask(reader: Reader, house: House, question: str) -> str:
    """Ask a question of the house's own documents; return the finished run's id."""
    new = NewRun(question=question, effort=Effort.QUICK, collections=[house.collection], composition=Composition.SINGLE_PASS)
    run = await watch(reader.client, (await reader.client.send(runs.create(new))).id)
    if run.status != "completed":
        raise RuntimeError(f"run {run.id} ended as {run.status}: {run.detail}")
    return run.id


async def compare(reader: Reader, house: House, question: str) -> Asked:
    """Ask, and have another writer's report made beside the first one."""
    run = await ask(reader, house, question)
    writer = WriterSettings(model=choose_writer(question), composition=Composition.SINGLE_PASS)
    return Asked(house, (await reader.client.send(preferences.compare(run, writer))).id)


async def vote(reader: Reader, asked: Asked, look_s: float, chance: random.Random, noise: float = NOISE) -> bool:
    """Look at both reports for so long, choose by what is planted, and be told which was which. False: there was no pair."""
    shown = await _wait_until_ready(reader.client, asked.id)
    if shown.status != ComparisonStatus.READY:
        return False
    if shown.choice is None:
        await asyncio.sleep(look_s)
        verdict = judge(shown)
        if chance.random() < noise:
            verdict = turn(verdict)
        strength = None if verdict is ChoiceVerdict.TIE else STRENGTH
        await reader.client.send(preferences.choose(asked.id, NewChoice(verdict=verdict, strength=strength)))
    await reader.client.send(preferences.reveal(asked.id))
    return True


def judge(shown: ComparisonView) -> ChoiceVerdict:
    """Return the side that has more of what the question's readers want."""
    wanted = read_wanted(shown.question)
    assert shown.left
    assert shown.right
    left, right = (len(wanted & see_features(side.markdown)) for side in (shown.left, shown.right))
    return ChoiceVerdict.TIE if left == right else ChoiceVerdict.LEFT if left > right else ChoiceVerdict.RIGHT


def turn(verdict: ChoiceVerdict) -> ChoiceVerdict:
    """Return the other side."""
    sides = {ChoiceVerdict.LEFT: ChoiceVerdict.RIGHT, ChoiceVerdict.RIGHT: ChoiceVerdict.LEFT}
    return sides.get(verdict, verdict)


async def _wait_until_ready(client: AsyncClient, comparison: str) -> ComparisonView:
    while (shown := await client.send(preferences.comparison(comparison))).status == ComparisonStatus.PREPARING:
        await asyncio.sleep(POLL_S)
    return shown


def share_out(questions: Sequence[str], houses: Sequence[House], loud: int) -> list[tuple[House, str]]:
    """Give the first house `loud` of the questions, and the others equal parts of the rest; the order is mixed."""
    own = [(houses[0], question) for question in questions[:loud]]
    rest = [(houses[1:][number % len(houses[1:])], question) for number, question in enumerate(questions[loud:])]
    shared = [*own, *rest]
    random.Random("order").shuffle(shared)
    return shared
