"""The story of one seed: readers vote, a cycle learns from it, and what it promoted is asked for rubrics before and after."""

import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from app.domain.retraining import CycleState
from app.domain.served_models import ModelRole
from app.models.storage import aliases
from bench.loop.commands import rubrica, run, serve
from bench.loop.drafts import score_best_constant, score_drafts
from bench.loop.following import Tell, follow_cycle
from bench.loop.houses import House, open_houses, prepare_home
from bench.loop.plan import HOLDER, Measures, write_plan
from bench.loop.plant import FEATURES, list_questions
from bench.loop.spoiled import share_refused
from bench.loop.voting import collect_votes
from bench.stack import RunningStack, start_stack
from tests.support.real_vllm import PYTHON as VLLM
from tests.support.real_vllm import start_vllm

CANARY_QUESTIONS = 600
SETTINGS = {"RUBRICA_LLM_ALTERNATIVES": ", ".join(f"{name}=0/0" for name in FEATURES), "RUBRICA_JUDGE": "offline"}


@dataclass(frozen=True, slots=True)
class Story:
    """What came of a seed: the scores of drafts by question, before and after, the minutes of the cycle, its folder, the model
    that serves now, and whether it is a new one. `constant` is what the best rubric scores that does not read its question.

    `spoiled_refused` is the share of spoiled candidates that were refused; None where none was tried.
    """

    before: Sequence[float]
    after: Sequence[float]
    constant: float
    minutes: float
    cycle: Path
    version: str
    spoiled_refused: float | None
    promoted: bool

    @property
    def gains(self) -> list[float]:
        """The gain of each question."""
        return [after - before for before, after in zip(self.before, self.after, strict=True)]


@dataclass(frozen=True, slots=True)
class Servers:
    """The addresses of what writes rubrics, and of what stands for every other model, the exam's judge among them."""

    rubrics: str
    writers: str


async def tell_story(folder: Path, seed: int, measures: Measures, tell: Tell) -> Story:
    """Tell it, from an empty folder.

    Raises:
        RuntimeError: the cycle did not end with a promotion.
    """
    tell("a first model of rubrics is made, which knows little of what it is asked")
    base = Path((await run(sys.executable, "-m", "bench.loop.base", str(folder / "base"), "--seed", str(seed))).splitlines()[-1])
    home = folder / "home"
    prepare_home(home)
    async with (
        serve("bench.loop.writers") as writers,
        serve_rubrics(base, folder / "vllm.log") as address,
    ):
        settings = {**SETTINGS, "RUBRICA_LLM_BASE_URL": writers, "RUBRICA_LLM_MODEL": "stub"}
        async with (
            start_stack(home, None, settings) as stack,
            open_houses(stack.state.api, measures.houses, measures.readers) as houses,
        ):
            tell(f"a stack is up, with {measures.houses} organisations of {measures.readers} readers each, who all consent")
            await give_role(home, base, address, tell)
            return await learn(folder, stack, houses, base, Servers(address, writers), seed, measures, tell)


@asynccontextmanager
async def serve_rubrics(base: Path, log: Path) -> AsyncIterator[str]:
    """Serve the first model; yield the server's address. It is vLLM where `VLLM_PYTHON` names the Python of its environment."""
    if VLLM:
        with start_vllm(base, HOLDER, log) as address:
            yield address
    else:
        async with serve("training.serving", str(base), "--served-model-name", HOLDER, "--port", "0") as address:
            yield address


async def give_role(home: Path, base: Path, address: str, tell: Tell) -> None:
    """Give the rubric's role to the first model, as a person does."""
    why = ("--reason", "the first model of the demonstration")
    version = await rubrica(
        home, "registry", "add", str(base), "--role", "rubric", "--recipe", "sft", "--base", "tiny-random", *why
    )
    await rubrica(home, "registry", "serve", version, "--address", address, "--name", HOLDER)
    tell(await rubrica(home, "registry", "promote", version, "--served", HOLDER, *why))


async def name_holder(stack: RunningStack) -> str:
    """Return the name of the served model that has the rubric's role."""
    return (await aliases.list_all(stack.database))[ModelRole.RUBRIC].served


async def learn(
    folder: Path,
    stack: RunningStack,
    houses: Sequence[House],
    base: Path,
    servers: Servers,
    seed: int,
    measures: Measures,
    tell: Tell,
) -> Story:
    """Have readers vote, run the cycle, and score drafts before and after it."""
    readers, new = [house.readers[0] for house in houses], list_questions(measures.drafts, f"new {seed}")
    before = await score_drafts(readers, new)
    tell(f"rubrics that the product drafts for {len(new)} new questions score {fmean(before):.3f}")
    votes = await collect_votes(houses, list_questions(measures.pairs, f"asked {seed}"), measures, seed)
    tell(f"readers voted {votes.looked} times, {votes.hasty} times more in haste, and one of them {votes.loud} times more")
    began = time.monotonic()
    plan = write_plan(folder / "plan", base, servers.rubrics, servers.writers, measures, seed)
    asked_on = list_questions(CANARY_QUESTIONS, f"canary {seed}")
    cycle = await follow_cycle(stack.home.root, stack.database, plan, houses, asked_on, tell)
    minutes = (time.monotonic() - began) / 60
    tell(f"the cycle ended as {cycle.state} after {minutes:.1f} minutes {cycle.detail}")
    if cycle.state in (CycleState.FAILED, CycleState.STOPPED):
        raise RuntimeError(f"the cycle ended as {cycle.state}: {cycle.detail}")
    after = await score_drafts(readers, new)
    tell(f"rubrics for the same questions score {fmean(after):.3f} now")
    version = await name_holder(stack)
    refused = await share_refused(folder / "spoiled", Path(cycle.folder), base, seed, tell) if measures.spoils else None
    promoted = cycle.state is CycleState.PROMOTED
    return Story(before, after, score_best_constant(new), minutes, Path(cycle.folder), version, refused, promoted)
