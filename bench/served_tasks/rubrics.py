"""Rubrics as the product drafts them for a question: its asking again, its reading, its repairs.

What it adds where a policy wrote too little is left out: no policy earns by that.
"""

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from app.domain.chat import ChatRole, Message
from app.domain.query import Language, ResearchQuery
from app.domain.rubric import Origin, Rubric
from bench.learning_tasks.rubric_grammar import DEMANDS, UNSEEN, list_questions, rate_rubric
from bench.learning_tasks.rubrics import ITEMS
from bench.served_tasks.own_prompts import AskedAsTrained
from bench.served_tasks.policies import ask_all, make_kit
from workflows.chat_models.served_book import OpenModel
from workflows.judging.rubric_generation import draft_rubric
from workflows.systems.local_record import LocalRecord

OPENING = 2
"""The messages of the product's prompt: system and user."""


async def rate_rubrics(model: OpenModel, seed: int, _: Path) -> list[Mapping[str, float]]:
    """Have the held-out rubrics of `rubric_generator` drafted, and rate them. The policy learned from questions alone."""
    asked = list_questions(UNSEEN, ITEMS, random.Random(f"held out {seed}"))
    texts = await ask_all([partial(draft, model, question.text) for question in asked])
    return [rate_rubric(text, question) for text, question in zip(texts, asked, strict=True)]


async def draft(model: OpenModel, question: str) -> str:
    """Return the rubric that the product drafts with the model for a question, as `write_down` does."""

    def ask_alone(messages: Sequence[Message]) -> Sequence[Message]:
        return [Message(role=ChatRole.USER, content=question), *messages[OPENING:]]

    told = replace(model, chat=AskedAsTrained(model.chat, ask_alone))
    query = ResearchQuery(question=question, language=Language.ENGLISH)
    return write_down(await draft_rubric(query, make_kit(told, LocalRecord(question))))


def write_down(rubric: Rubric) -> str:
    """Return the criteria that a policy wrote, as the evaluator reads them; empty where the product wrote the rubric itself."""
    if rubric.origin is not Origin.MODEL:
        return ""
    own = [each for each in rubric.criteria if each.demand in DEMANDS.values()]
    return json.dumps([{"description": each.description, "weight": each.weight} for each in own])
