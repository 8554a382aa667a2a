"""Small rollouts for tests of the collector: a policy of one answer, and a judge who reads it."""

import asyncio
from collections.abc import Callable, Iterable, Iterator
from itertools import count

from app.domain.chat import ChatRequest, ChatRole, Message
from app.domain.query import Language
from training.rollouts.nouns import Reward, Rollout, RolloutEnd, Task
from training.rollouts.rollout_work import Draw, RolloutOutcome, RolloutWork
from workflows.chat_models.scripted import ScriptedModel
from workflows.systems.local_record import LocalRecord

QUESTION = ChatRequest(messages=(Message(role=ChatRole.USER, content="How many?"),))


def make_tasks(numbers: Iterable[int] | None = None) -> Iterator[Task[int]]:
    """Return tasks t0, t1, ..., without an end if no numbers are given."""
    return (Task(f"t{number}", "How many?", Language.ENGLISH, number) for number in (count() if numbers is None else numbers))


async def ask_policy(draw: Draw[int], record: LocalRecord) -> RolloutOutcome:
    """Ask once; the answer is the sampler's seed, so that other samples are other answers."""
    answer = await record.ask("policy", "answer", ScriptedModel([str(draw.seed)]), QUESTION)
    return RolloutOutcome(answer.text, RolloutEnd.FINISHED)


async def judge_by_number(_: Task[int], rollout: Rollout) -> Reward:
    """Give each rollout of a group its own reward."""
    return Reward(float(rollout.number))


USUAL_WORK: RolloutWork[int] = RolloutWork(ask_policy, judge_by_number)


class HeldWork:
    """Rollouts that are held until the test lets their position go. `begun` has (position, attempt, policy version)."""

    def __init__(self, held: Callable[[Draw[int]], bool] = lambda _: True) -> None:
        self._held = held
        self._free: dict[int, asyncio.Event] = {}
        self.begun: list[tuple[int, int, int]] = []
        self.cancelled = 0

    @property
    def work(self) -> RolloutWork[int]:
        return RolloutWork(self._run, judge_by_number)

    def free(self, *positions: int) -> None:
        """Let the rollouts of these positions go on."""
        for position in positions:
            self._event_of(position).set()

    async def _run(self, draw: Draw[int], record: LocalRecord) -> RolloutOutcome:
        self.begun.append((draw.position, draw.attempt, draw.policy_version))
        try:
            if self._held(draw):
                await self._event_of(draw.position).wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        return await ask_policy(draw, record)

    def _event_of(self, position: int) -> asyncio.Event:
        return self._free.setdefault(position, asyncio.Event())


async def let_others_run() -> None:
    """Give every task of the loop many turns."""
    for _ in range(100):
        await asyncio.sleep(0)
