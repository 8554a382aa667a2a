"""`sft_cold_start`: thoughts, calls and answers in form on held-out questions, learned from a forgetful teacher.

The recipe is itself the SFT, so its baseline is plain SFT: on the same conversations and as long, but on every token, what the
policy was told and the teacher's refused turns among them. The ablated one is the recipe on a set in which refused turns count.
"""

import asyncio
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from app.domain.budget import AgentLimits
from app.domain.query import Language, SystemName
from app.domain.trajectory import Trajectory
from bench.learning_tasks.beginnings import Start, build_tokenizer, describe_sft, open_tokenizer
from bench.learning_tasks.protocol import PolicyScores, SeedScores
from bench.learning_tasks.runs import derive_seed, open_saved, train_on_examples, train_recipe, write_rows
from bench.learning_tasks.scoring import score_answers
from bench.learning_tasks.short_searches import (
    ForgetfulTeacher,
    LengthQuestion,
    list_phrases,
    probe_outputs,
    rate_search,
    record_searches,
    split_questions,
    write_answer,
    write_call,
)
from training.recipes.chatml import MaskedIds, mask_conversation
from training.recipes.reinforcement.config import RolloutsSection
from training.recipes.rollout_tools import play_tape
from training.rollouts.run_chain import ChainSetup, run_chain
from training.synthesis.training_set.outcome import KeptRow
from training.synthesis.trajectories.conversations import TrainedConversation, corrections_of, list_conversations
from workflows.agents.codec import TagCodec
from workflows.agents.kit import Bounds
from workflows.agents.ports import ChatModel
from workflows.chat_models.scripted import ScriptedModel
from workflows.prompts.library import PromptLibrary
from workflows.systems.agent_sets import AGENTS
from workflows.systems.local_record import LocalRecord

SEARCHES, ITEMS = 300, 80
EPOCHS, BATCH, LEARNING_RATE = 4, 16, 2e-3
TOKENS, CONTEXT = 32, 512
LIMITS = AgentLimits(max_turns=4, max_tool_calls=4)
SEARCHER = "search/s1"


@dataclass(frozen=True, slots=True)
class ColdStartTask:
    """The task. Questions are worked by the product's own agent, in tags and in one conversation, on a tape."""

    recipe: str = "sft_cold_start"

    def run_seed(self, folder: Path, seed: int, start: Start) -> SeedScores:
        """Train and measure."""
        learned, unseen = split_questions(seed)
        asked = [learned[n % len(learned)] for n in range(SEARCHES)]
        worked = asyncio.run(work_as_teacher(asked, seed))
        kept, every = list_all(worked, corrections_of(PromptLibrary.load())), list_all(worked, ())
        phrases = list_phrases([m.content for row in every for each in row for m in each.messages])
        base = start.make_base(folder / "base", build_tokenizer(phrases), seed)
        tokenizer = open_tokenizer(base)
        shown = [mask_conversation(each.messages, tokenizer).ids for row in every for each in row]
        plain = [MaskedIds(ids, (True,) * len(ids)) for ids in shown]
        policies = (
            base,
            train_on_examples(folder / "plain", describe_sft(base, start, seed, LEARNING_RATE, BATCH, EPOCHS), plain),
            train_cold(folder / "trained", base, start, write_trajectories(folder / "kept", asked, kept), seed),
            train_cold(folder / "ablated", base, start, write_trajectories(folder / "every", asked, every), seed),
        )
        items = [unseen[n % len(unseen)] for n in range(ITEMS)]
        scored = [asyncio.run(measure(policy, start, items, seed)) for policy in policies]
        return SeedScores(scored[0], scored[1], scored[2], scored[3])


async def work_as_teacher(asked: Sequence[LengthQuestion], seed: int) -> list[Trajectory]:
    """Let the teacher work each question."""
    chance, prompts = random.Random(f"teacher {seed}"), PromptLibrary.load()
    teachers = [ScriptedModel(ForgetfulTeacher(each, chance).answer) for each in asked]
    return [await work_question(each, teacher, prompts, n) for n, (each, teacher) in enumerate(zip(asked, teachers, strict=True))]


async def work_question(asked: LengthQuestion, policy: ChatModel, prompts: PromptLibrary, number: int) -> Trajectory:
    """Run the agent on a question, as it is served."""
    record = LocalRecord(str(number))
    setup = ChainSetup(
        system=SystemName.DEEPRUBRIC,
        agents=AGENTS[SystemName.DEEPRUBRIC],
        codec=TagCodec(),
        prompts=prompts,
        make_tools=play_tape(record_searches([asked])),
        today=date(2026, 1, 1),
        limits=LIMITS,
        bounds=Bounds(shorten_conversations=False),
        one_conversation=True,
    )
    await run_chain(asked.text, Language.ENGLISH, policy, record, setup)
    return record.trajectory


def list_all(worked: Iterable[Trajectory], corrections: Sequence[str]) -> list[list[TrainedConversation]]:
    """Return the conversations of each trajectory. Without `corrections`, refused turns are trained too."""
    return [list_conversations(each, corrections) for each in worked]


def write_trajectories(folder: Path, asked: Sequence[LengthQuestion], rows: Sequence[list[TrainedConversation]]) -> Path:
    """Write a set of trajectories."""
    kept = [
        KeptRow(
            query=each.text,
            topic="ports",
            language=Language.ENGLISH,
            documents=(),
            data={"conversations": [one.model_dump(mode="json") for one in row]},
        )
        for each, row in zip(asked, rows, strict=True)
    ]
    return write_rows(folder, "trajectories", kept)


def train_cold(folder: Path, base: Path, start: Start, own: Path, seed: int) -> Path:
    """Train on trajectories; return the folder of the model."""
    optimizer = {"learning_rate": start.scale_rate(LEARNING_RATE), "schedule": "linear", "epochs": EPOCHS}
    return train_recipe(
        folder,
        "sft_cold_start",
        {
            "model": start.describe_model(base),
            "data": {"sets": [str(own)], "max_tokens": start.scale_tokens(CONTEXT)},
            "optimizer": {**optimizer, **start.split_step(BATCH)},
            "run": {"device": start.device, "seed": seed, "log_every": 20, "save_every": 1_000},
        },
    )


async def measure(model: Path, start: Start, items: Sequence[LengthQuestion], seed: int) -> PolicyScores:
    """Score a policy's work on held-out questions."""
    prompts = PromptLibrary.load()
    most, context = start.scale_tokens(TOKENS), start.scale_tokens(CONTEXT)
    sampled = RolloutsSection(tasks_a_step=1, most_tokens=most, context=context, rows=80)
    async with open_saved(model, start, sampled, 1.0) as policy:
        runs = [work_question(each, policy(derive_seed(seed, n)), prompts, n) for n, each in enumerate(items)]
        outputs = [list_outputs(each) for each in await asyncio.gather(*runs)]
    return score_answers(
        {str(n): tuple(said) for n, said in enumerate(outputs)},
        {str(n): each for n, each in enumerate(items)},
        rate_search,
        lambda said, _: probe_outputs(said),
        key=lambda asked: asked.query,
        ideals=[(write_call(each), write_answer(each)) for each in items],
    )


def list_outputs(trajectory: Trajectory) -> list[str]:
    """Return what the policy said while it searched, as it said it."""
    return [turn.completion.text for turn in trajectory.turns if turn.completion and turn.agent == SEARCHER]


TASK = ColdStartTask()
