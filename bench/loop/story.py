"""The story of one seed: readers vote, a cycle learns from it, and what it promoted is asked for rubrics before and after."""

import asyncio
import shutil
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from statistics import fmean

from app.domain.retraining import CycleState
from app.domain.served_models import ModelRole
from app.models.storage import aliases
from bench.loop.commands import Tell, rubrica, run, serve
from bench.loop.drafts import score_best_constant, score_drafts
from bench.loop.following import follow_cycle, watch_base
from bench.loop.houses import House, open_houses, prepare_home
from bench.loop.kept import Kept
from bench.loop.plan import HOLDER, Measures, write_plan
from bench.loop.plant import FEATURES, list_questions
from bench.loop.records import Row, list_canaries, list_moves, list_versions
from bench.loop.spoiled import share_refused
from bench.loop.voting import collect_votes
from bench.stack import RunningStack, start_stack
from infra.local.ports import find_free_port
from tests.support.real_vllm import PYTHON as VLLM
from tests.support.real_vllm import start_vllm

CANARY_QUESTIONS = 600
SETTINGS = {"RUBRICA_LLM_ALTERNATIVES": ", ".join(f"{name}=0/0" for name in FEATURES), "RUBRICA_JUDGE": "offline"}


@dataclass(frozen=True, slots=True)
class Story:
    """What came of a seed: the scores of drafts by question, before and after, the minutes of the cycle, its folder, the model
    that serves now, and whether it is a new one. `constant` is what the best rubric scores that does not read its question.

    `moves` of the role, its `versions` and its `canaries` are rows to show (`records.py`).
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
    moves: Sequence[Row] = ()
    versions: Sequence[Row] = ()
    canaries: Sequence[Row] = ()

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
    """Tell it, in an empty folder, or in one in which it was told to some moment: then it goes on from there.

    Raises:
        RuntimeError: the cycle did not end with a promotion.
    """
    kept, home = Kept(folder / "kept.json"), folder / "home"
    base = Path(await kept.once("base", lambda: make_first_model(folder / "base", seed, tell)))
    ready = "home" in kept
    if not ready:
        shutil.rmtree(home, ignore_errors=True)
        prepare_home(home)
    ports = [kept.keep(name, kept.get(name) or find_free_port()) for name in ("writers' port", "rubrics' port")]
    async with (
        serve("bench.loop.writers", "--port", str(ports[0])) as writers,
        serve_rubrics(base, folder / "vllm.log", ports[1]) as address,
    ):
        settings = {**SETTINGS, "RUBRICA_LLM_BASE_URL": writers, "RUBRICA_LLM_MODEL": "stub"}
        async with (
            start_stack(home, None, settings) as stack,
            open_houses(stack.state.api, measures.houses, measures.readers, ready) as houses,
        ):
            tell(f"a stack is up, with {measures.houses} organisations of {measures.readers} readers each, who all consent")
            await kept.once("home", lambda: give_role(home, base, address, settings, tell))
            return await learn(folder, stack, houses, base, Servers(address, writers), seed, measures, kept, tell)


async def make_first_model(folder: Path, seed: int, tell: Tell) -> str:
    """Make the model that has the role at first, and tell how far that is; return its folder."""
    tell("a first model of rubrics is made, which knows little of what it is asked")
    watching = asyncio.create_task(watch_base(folder, tell))
    try:
        return (await run(sys.executable, "-m", "bench.loop.base", str(folder), "--seed", str(seed))).splitlines()[-1]
    finally:
        watching.cancel()


@asynccontextmanager
async def serve_rubrics(base: Path, log: Path, port: int) -> AsyncIterator[str]:
    """Serve the first model; yield the server's address. It is vLLM where `VLLM_PYTHON` names the Python of its environment."""
    if VLLM:
        with start_vllm(base, HOLDER, log, port) as address:
            yield address
    else:
        async with serve("training.serving", str(base), "--served-model-name", HOLDER, "--port", str(port)) as address:
            yield address


async def give_role(home: Path, base: Path, address: str, settings: Mapping[str, str], tell: Tell) -> None:
    """Give the rubric's role to the first model, as a person does."""
    why = ("--reason", "the first model of the demonstration")
    version = await rubrica(
        home, "registry", "add", str(base), "--role", "rubric", "--recipe", "sft", "--base", "tiny-random", *why
    )
    await rubrica(home, "registry", "serve", version, "--address", address, "--name", HOLDER)
    tell(await rubrica(home, "registry", "promote", version, "--served", HOLDER, *why, settings=settings))


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
    kept: Kept,
    tell: Tell,
) -> Story:
    """Have readers vote, run the cycle, and score drafts before and after it."""
    readers, new = [house.readers[0] for house in houses], list_questions(measures.drafts, f"new {seed}")
    before = await kept.once("before", lambda: score_drafts(readers, new))
    tell(f"rubrics that the product drafts for {len(new)} new questions score {fmean(before):.3f}")
    votes = await collect_votes(houses, list_questions(measures.pairs, f"asked {seed}"), measures, seed, kept, tell)
    tell(f"readers voted {votes.looked} times, {votes.hasty} times more in haste, and one of them {votes.loud} times more")
    plan = write_plan(folder / "plan", base, servers.rubrics, servers.writers, measures, seed)
    asked_on = list_questions(CANARY_QUESTIONS, f"canary {seed}")
    cycle = await follow_cycle(stack.home.root, stack.database, plan, houses, asked_on, tell)
    assert cycle.ended_at is not None
    minutes = (cycle.ended_at - cycle.created_at) / timedelta(minutes=1)
    tell(f"the cycle ended as {cycle.state} after {minutes:.1f} minutes {cycle.detail}")
    if cycle.state in (CycleState.FAILED, CycleState.STOPPED):
        raise RuntimeError(f"the cycle ended as {cycle.state}: {cycle.detail}")
    after = await kept.once("after", lambda: score_drafts(readers, new))
    tell(f"rubrics for the same questions score {fmean(after):.3f} now")
    made, kinds = Path(cycle.folder), measures.spoils
    version = await kept.once("version", lambda: name_holder(stack))
    refused = await share_refused(folder / "spoiled", made, base, kinds, seed, tell) if kinds else None
    promoted = cycle.state is CycleState.PROMOTED
    if promoted:
        await kept.once("back", lambda: go_back(stack.home.root, tell))
    shown = await list_moves(stack.database), await list_versions(stack.database), await list_canaries(stack.database)
    return Story(before, after, score_best_constant(new), minutes, made, version, refused, promoted, *shown)


async def go_back(home: Path, tell: Tell) -> None:
    """Take the promotion back, as a person does who is not content."""
    tell(await rubrica(home, "registry", "back", ModelRole.RUBRIC, "--reason", "the way back of the demonstration"))
