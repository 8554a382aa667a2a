"""`python -m bench.rollouts`: measure the collector of rollouts against a loop that keeps a batch in step, on the same traces.

Time is virtual. The baseline steps all rollouts of a batch together: all answers of a turn, then all its tool calls at once,
then the next turn; then all judges at once, then the training step. The collector (the product's own) gives as many batches,
with k = 0 and k = 1.

What is assumed, and why:
- 8 tasks of 8 rollouts a batch, 20 turns, at most 2,048 tokens an action (DeepRubric Table 5). An action has 200 tokens in the
  median (sigma .8), a report 1,500 (.4).
- All loops have DeepRubric's node of 8 A100. In step and with k = 0 all eight generate, then all eight train, and the change
  costs nothing. With k = 1 four generate while four train. The trainer takes groups one by one, and adds up their gradients, as
  `RolloutTrainer` does with `by_group`; with k = 0 it takes whole batches.
- A GPU generates with an 8B model. A token's cache is 147 kB, so that a sequence of 28,288 tokens takes 4.2 GB, and the 32 GB
  beside the weights (utilisation .6, DeepRubric Table 5) hold 8 of them. At 1.6 TB/s a decoding step takes 10 ms for the weights
  and 1.25 ms for each half-full cache: 89 to 50 tokens a second for each sequence.
- The tools of a turn take 2 s in the median (sigma 1: mean 3.3 s, one in a hundred 20 s), at most the 45 s after which the
  product's tools give up. A judge takes 30 s (sigma .7), at most 4 minutes: the end of all requests in QSR section 4.1.
- A training step takes 120 s on eight GPUs and 240 s on four: 64 rollouts of 16,000 tokens, 8B weights, activations made twice,
  at a third of the peak.

Reports of others: MindDR 2.9x over veRL (section 5.1); veRL itself 2.7x (790 to 295 s a step), verl-tool 2.1x (194 to 94 s).

`generator_idle` is the share of time in which the server has nothing to generate; `capacity_used` its tokens as a share of those
that full slots would give. Both at k = 1. `--settings` measures other assumptions too.
"""

import argparse
import asyncio
from dataclasses import replace
from itertools import count
from typing import NamedTuple

from app.domain.query import Language
from bench.result import print_result
from bench.rollout_traces import Generator, Server, Spread, Trace, Traffic, make_trace
from bench.virtual_time import run_virtually
from training.rollouts.collect import Collector
from training.rollouts.collector_settings import CollectorSettings, Handover
from training.rollouts.collector_state import CollectorCounts
from training.rollouts.nouns import Reward, Rollout, RolloutEnd, Task
from training.rollouts.rollout_work import Draw, RolloutOutcome, RolloutWork
from workflows.systems.local_record import LocalRecord

STEPS, TASKS, GROUP = 40, 8, 8
USUAL = Traffic()
LIGHT = replace(USUAL, tool_s=Spread(2.8, 0.5, 45), judge_s=Spread(34, 0.5, 240))


class Split(NamedTuple):
    """How many GPUs generate, and how many train."""

    generating: int
    training: int


SHARED, EVEN = Split(8, 8), Split(4, 4)


class Setting(NamedTuple):
    """What is assumed: the rollouts, who generates while the trainer steps, how groups are handed over and taken (k = 1)."""

    traffic: Traffic = USUAL
    split: Split = EVEN
    handover: Handover = Handover.AS_COMPLETED
    taken_at_once: int = 1


OTHERS = {
    "as assumed": Setting(),
    "whole batches (several updates or passes a generation)": Setting(taken_at_once=TASKS),
    "in the order of tasks": Setting(handover=Handover.IN_TASK_ORDER),
    "three generate, five train": Setting(split=Split(3, 5)),
    "five generate, three train": Setting(split=Split(5, 3)),
    "a second node: eight generate, eight train": Setting(split=SHARED),
    "light tails (sigma .5 for tools and judges)": Setting(LIGHT),
    "local tools (.3 s)": Setting(replace(USUAL, tool_s=Spread(0.3, 0.5, 45))),
    "slow tools (5 s)": Setting(replace(USUAL, tool_s=Spread(5.0, 1.0, 45))),
    "half as long a training step": Setting(replace(USUAL, step_s=60)),
}


class LoopFigures(NamedTuple):
    """How a loop did: seconds a batch, the shares of the server's time and capacity, and what a collector counted."""

    batch_s: float
    idle: float
    used: float
    counts: CollectorCounts | None = None


def trace_of(traffic: Traffic, position: int, number: int, attempt: int = 0) -> Trace:
    return make_trace(traffic, f"{position}/{number}/{attempt}")


async def step_batches(traffic: Traffic, generator: Generator) -> None:
    """Run the baseline."""
    for step in range(STEPS):
        places = [(step * TASKS + task, number) for task in range(TASKS) for number in range(GROUP)]
        traces = [trace_of(traffic, *place) for place in places]
        for turn in range(traffic.turns):
            await asyncio.gather(*(generator.generate(trace.turns[turn][0]) for trace in traces))
            await asyncio.gather(*(asyncio.sleep(trace.turns[turn][1]) for trace in traces))
        await asyncio.gather(*(generator.generate(trace.report_tokens) for trace in traces))
        await asyncio.gather(*(asyncio.sleep(trace.judge_s) for trace in traces))
        await asyncio.sleep(traffic.step_s)


class TracedWork:
    """Rollouts that take as long as their traces say."""

    def __init__(self, traffic: Traffic, generator: Generator) -> None:
        self._traffic, self._generator = traffic, generator
        self._judge_s: dict[tuple[str, int], float] = {}

    async def run(self, draw: Draw[int], _: LocalRecord) -> RolloutOutcome:
        """Generate and wait, turn by turn, then generate the report."""
        trace = trace_of(self._traffic, draw.position, draw.number, draw.attempt)
        self._judge_s[draw.task.id, draw.number] = trace.judge_s
        for tokens, tool_s in trace.turns:
            await self._generator.generate(tokens)
            await asyncio.sleep(tool_s)
        await self._generator.generate(trace.report_tokens)
        return RolloutOutcome("", RolloutEnd.FINISHED)

    async def judge(self, task: Task[int], rollout: Rollout) -> Reward:
        """Wait for the judge."""
        await asyncio.sleep(self._judge_s.pop((task.id, rollout.number)))
        return Reward(1.0)


async def train_on_collected(
    traffic: Traffic, generator: Generator, settings: CollectorSettings, taken_at_once: int
) -> CollectorCounts:
    """Take groups from the collector and train on them; each step needs as many as a batch has."""
    work = TracedWork(traffic, generator)
    tasks = (Task(str(number), "", Language.ENGLISH, number) for number in count())
    async with Collector(tasks, RolloutWork(work.run, work.judge), settings) as collector:
        for version in range(1, STEPS + 1):
            for _ in range(0, TASKS, taken_at_once):
                groups = await collector.next_batch(taken_at_once)
                await asyncio.sleep(traffic.step_s * len(groups) / TASKS)
            collector.set_policy_version(version)
        return collector.counts.copy()


def measure(setting: Setting, oldest: int | None) -> LoopFigures:
    """Run the collector, or the baseline where no age is given, in virtual time."""
    generating, training = setting.split if oldest else SHARED
    traffic = replace(setting.traffic, step_s=setting.traffic.step_s * SHARED.training / training)

    async def watch() -> LoopFigures:
        generator, counts = Generator(Server(generating)), None
        if oldest is None:
            await step_batches(traffic, generator)
        else:
            settings = CollectorSettings(GROUP, TASKS, oldest, handover=setting.handover)
            counts = await train_on_collected(traffic, generator, settings, setting.taken_at_once if oldest else TASKS)
        elapsed = asyncio.get_running_loop().time()
        used = generator.tokens / (elapsed * generator.server.capacity)
        return LoopFigures(elapsed / STEPS, generator.idle_s / elapsed, used, counts)

    return run_virtually(watch())


def compare(name: str, setting: Setting) -> dict[str, float]:
    """Measure the three loops under one setting."""
    stepped, k0, k1 = (measure(setting, oldest) for oldest in (None, 0, 1))
    for label, found in (("in step", stepped), ("k = 0", k0), ("k = 1", k1)):
        counted = f", {found.counts.too_old} groups too old, versions old {found.counts.staleness}" if found.counts else ""
        print(
            f"{name}, {label}: {found.batch_s:.0f} s a batch, idle {found.idle:.1%}, used {found.used:.1%}{counted}", flush=True
        )
    return {
        "speedup_k0": stepped.batch_s / k0.batch_s,
        "speedup_k1": stepped.batch_s / k1.batch_s,
        "generator_idle": k1.idle,
        "capacity_used": k1.used,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--settings", action="store_true", help="measure other assumptions too")
    if parser.parse_args().settings:
        for name, setting in OTHERS.items():
            print({figure: round(value, 2) for figure, value in compare(name, setting).items()}, flush=True)
    print_result("rollouts", compare("as assumed", Setting()))


if __name__ == "__main__":
    main()
