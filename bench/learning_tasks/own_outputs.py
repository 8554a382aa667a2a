"""What the tasks of `preference_dpo` and `self_sft` share: a policy that writes dated reports, its samples, their counting."""

import asyncio
import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from app.domain.chat import ChatRequest
from bench.learning_tasks.beginnings import Start, build_tokenizer, describe_sft, open_tokenizer
from bench.learning_tasks.dated_reports import (
    TODAY,
    DatedQuestion,
    list_phrases,
    list_questions,
    probe_report,
    rate_report,
    split_works,
)
from bench.learning_tasks.protocol import PolicyScores
from bench.learning_tasks.runs import derive_seed, open_saved, train_on_examples
from bench.learning_tasks.scoring import score_answers
from bench.learning_tasks.tense_judge import judge_tense
from training.decontamination.known_texts import KnownTexts
from training.evaluation.harness.manifest import ModelUsed
from training.evaluation.harness.models import RunModels, ServedModel
from training.recipes.chatml import mask_answer
from training.recipes.own_samples import show_prompt
from training.recipes.reinforcement.config import RolloutsSection
from training.rewards.notations import Notation
from training.rewards.quote_citations import read_draft
from training.synthesis.catalogue import load_kind
from training.synthesis.self_samples.prompts import SamplePrompt, read_row
from training.synthesis.set_request import SetRequest
from training.synthesis.training_set.make_set import make_set
from training.synthesis.training_set.manifest import SetOrigin
from training.synthesis.workshop import Workshop
from workflows.agents.codec import TagCodec
from workflows.chat_models.scripted import ScriptedModel
from workflows.prompts.library import PromptLibrary

EXAMPLES, PROMPTS, ITEMS = 2_400, 200, 96
TOKENS, CONTEXT, TEMPERATURE = 40, 256, 1.0
KIND = "self-samples"


@dataclass(frozen=True, slots=True)
class Beginning:
    """A policy as it began, the same after SFT on reports of the mix, and the files of its questions."""

    base: Path
    taught: Path
    asked: Path
    held_out: Sequence[DatedQuestion]


def begin(folder: Path, seed: int, start: Start) -> Beginning:
    """Make the policies, and draw the questions."""
    chance = random.Random(seed)
    learned, unseen = split_works(seed)
    shown = list_questions(learned, EXAMPLES, chance)
    prompts = write_prompts(folder / "shown.jsonl", shown)
    phrases = list_phrases([each.content for each in prompts[0].messages])
    base = start.make_base(folder / "base", build_tokenizer(phrases), seed)
    tokenizer = open_tokenizer(base)
    examples = [
        mask_answer(show_prompt(prompt.messages), question.answer(chance), tokenizer)
        for prompt, question in zip(prompts, shown, strict=True)
    ]
    taught = train_on_examples(folder / "sft", describe_sft(base, start, seed, 2e-3, 16, 1.5), examples)
    asked = folder / "asked.jsonl"
    write_prompts(asked, list_questions(learned, PROMPTS, chance))
    return Beginning(base, taught, asked, list_questions(unseen, ITEMS, random.Random(f"held out {seed}")))


def describe_sampling(start: Start) -> RolloutsSection:
    """Return how policies are sampled."""
    most, context = start.scale_tokens(TOKENS), start.scale_tokens(CONTEXT)
    return RolloutsSection(tasks_a_step=1, most_tokens=most, context=context, rows=64)


def write_prompts(path: Path, questions: Sequence[DatedQuestion]) -> list[SamplePrompt]:
    """Write questions as a file of `--input`, and return the prompts that are made of it."""
    rows, prompts = [each.row for each in questions], PromptLibrary.load()
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return [prompt for row in rows if (prompt := read_row(row, prompts, TODAY))]


def sample_own(out: Path, policy: Path, start: Start, asked: Path, seed: int, options: dict[str, str]) -> Path:
    """Make a set of a policy's own samples, as `rubrica data make` does.

    Rules alone score them, and no judge is asked, unless `options` has a share for `judges`: that of the judge of tense.
    """
    request = SetRequest(
        KIND,
        out,
        rows=PROMPTS,
        seed=seed,
        inputs=(asked,),
        options={"base": str(policy), "judges": "0", "tokens": str(start.scale_tokens(TOKENS)), **options},
        at_once=64,
    )
    asyncio.run(_sample(request, policy, start))
    return out


async def _sample(request: SetRequest, policy: Path, start: Start) -> None:
    async with open_saved(policy, start, describe_sampling(start), TEMPERATURE) as opened:
        chat = opened(derive_seed(request.seed, request.out.name))
        judge = ScriptedModel(judge_tense)
        writer, judging = (ServedModel(each, ModelUsed(name=each.name, codec="tags")) for each in (chat, judge))
        workshop = Workshop(request, (), RunModels(writer, judging), PromptLibrary.load(), TagCodec(), TODAY)
        recipe = load_kind(KIND).open_recipe(workshop)
        origin = SetOrigin(
            kind=KIND,
            wanted=request.rows,
            seed=request.seed,
            code="",
            today=TODAY,
            base=dict(recipe.base),
            notation=recipe.notation,
        )
        await make_set(recipe, origin, request.out, KnownTexts(), request.at_once)


def measure(
    folder: Path, policies: Sequence[Path], start: Start, questions: Sequence[DatedQuestion], seed: int
) -> list[PolicyScores]:
    """Score the policies' reports on held-out questions."""
    prompts = write_prompts(folder / "held_out.jsonl", questions)
    return [asyncio.run(_measure(policy, start, prompts, questions, seed)) for policy in policies]


async def _measure(
    policy: Path, start: Start, prompts: Sequence[SamplePrompt], questions: Sequence[DatedQuestion], seed: int
) -> PolicyScores:
    async with open_saved(policy, start, describe_sampling(start), TEMPERATURE) as opened:
        asked = [opened(derive_seed(seed, n)).complete(ChatRequest(messages=p.messages)) for n, p in enumerate(prompts)]
        texts = [read_draft(said.text, Notation.TAGS) for said in await asyncio.gather(*asked)]
    return score_answers(
        {str(n): text for n, text in enumerate(texts)},
        {str(n): question for n, question in enumerate(questions)},
        rate_report,
        lambda text, _: probe_report(text),
        key=lambda question: question,
    )
