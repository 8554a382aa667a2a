"""The model that holds the rubric's role at first: tiny, fine-tuned on rubrics that know little of their questions.

It is asked by the product's own prompt in tags. What that prompt says each time is single tokens of its tokenizer, as are the
items of rubrics, so that a prompt has some tens of tokens. `python -m bench.loop.base FOLDER --seed N` writes it.
"""

import argparse
import random
from collections.abc import Callable, Sequence
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from app.domain.query import Language, ResearchQuery
from bench.learning_tasks import rubric_grammar
from bench.learning_tasks.beginnings import Start, build_base, build_tokenizer, describe_sft, open_tokenizer
from bench.learning_tasks.runs import train_on_examples
from bench.loop.plant import ENDS, OPENINGS, SYLLABLES, TOLD_BY, Question, list_questions
from training.recipes.chatml import MaskedIds, mask_answer
from training.synthesis.trajectories.conversations import TrainedMessage
from workflows.agents.codec import TagCodec
from workflows.agents.kit import Kit
from workflows.chat_models.scripted import ScriptedModel
from workflows.judging.rubric_generation import render_rubric_messages
from workflows.prompts.library import PromptLibrary
from workflows.systems.local_record import LocalRecord

BEGIN, END = '<answer>{"criteria": [', "]}</answer>"
EXAMPLES, EPOCHS, RATE, EXAMPLES_A_STEP = 3_000, 6, 3e-3, 32
HABIT_SHARE = 0.4
HABIT = (
    ("headings", "Important", 4),
    ("dates", "Key", 5),
    ("tone", "Optional", 1),
    ("sides", "Important", 3),
    ("names", "Optional", 2),
    ("causes", "Important", 3),
    ("sources", "Important", 3),
)
"""What suits any report. It tells few pairs apart: a habit that tells more than the rest is what GRPO ends with."""
SPREAD = 0.1
"""The spread of the first weights. With .02 SFT of these minutes does not learn to read its prompt."""
DAY, DAYS = date(2026, 1, 1), 1_000
MARK = "Q0Q0Q"
WriteRubric = Callable[[random.Random, Question], str]


def write_loose_rubric(chance: random.Random, question: Question) -> str:
    """Write a rubric as the first model is taught to: most are one and the same habit, some know what is wanted.

    What a model is asked for without chance is then the habit; what it samples has the rest, from which it can learn.
    """
    if chance.random() < HABIT_SHARE:
        return BEGIN + rubric_grammar.AND.join(rubric_grammar.write_item(*item) for item in HABIT) + END
    return frame(rubric_grammar.write_rubric(chance, question.wanted))


def frame(rubric: str) -> str:
    """Return a rubric of the grammar in the form that the product's prompt asks for."""
    return BEGIN + rubric.removeprefix("<answer>[").removesuffix("]</answer>") + END


def ask_for_rubric(question: str, today: date) -> list[TrainedMessage]:
    """Return the product's own prompt, as a model in tags is asked."""
    record = LocalRecord("base")
    kit = Kit(ScriptedModel(lambda _: ""), {}, record, _PROMPTS, TagCodec(), today, lambda: 0.0, language=Language.ENGLISH)
    messages = render_rubric_messages(ResearchQuery(question=question), kit)
    return [TrainedMessage(role=message.role, content=message.content) for message in messages]


_PROMPTS = PromptLibrary.load()


def list_phrases() -> list[str]:
    """Return what is one token each: the fixed parts of the prompt, words of questions, syllables of nouns, and items."""
    prompt = [message.content.replace(DAY.isoformat(), MARK) for message in ask_for_rubric(MARK, DAY)]
    fixed = [part for content in prompt for part in content.split(MARK) if part]
    words = [
        word
        for text in (*OPENINGS.values(), *ENDS.values(), TOLD_BY)
        for word in text.replace("{", " {").split()
        if word.isalpha()
    ]
    return list(
        dict.fromkeys(
            (*fixed, *rubric_grammar.list_phrases(), *words, *SYLLABLES, BEGIN, END, "system\n", "user\n", "assistant\n")
        )
    )


def list_examples(tokenizer: Any, questions: Sequence[Question], write: WriteRubric, chance: random.Random) -> list[MaskedIds]:
    """Return examples of SFT: the prompt on some day, and the rubric that is written for its question."""
    return [
        mask_answer(ask_for_rubric(q.text, DAY + timedelta(days=chance.randrange(DAYS))), write(chance, q), tokenizer)
        for q in questions
    ]


def make_base(folder: Path, seed: int, examples: int = EXAMPLES) -> Path:
    """Make the model; return its folder."""
    raw = build_base(folder / "random", build_tokenizer(list_phrases()), seed, SPREAD)
    shown = list_examples(open_tokenizer(raw), list_questions(examples, f"base {seed}"), write_loose_rubric, random.Random(seed))
    config = describe_sft(raw, Start(), seed, RATE, EXAMPLES_A_STEP, EPOCHS)
    return train_on_examples(folder / "sft", config, shown)


def main() -> None:
    """Make it, and print its folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--examples", type=int, default=EXAMPLES)
    options = parser.parse_args()
    print(make_base(options.folder, options.seed, options.examples), flush=True)


if __name__ == "__main__":
    main()
