"""How relevant a cited quote is to the statement that cites it, from 0 to 1 (MDR 5.3: valid is what exceeds a threshold).

The paper says "textual relevance" and no more. Three ways: a judge's yes or no, the cosine of an encoder's vectors, or the share
of the statement's words that the quote has, which needs no model.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeAlias

from app.domain.missing import Missing
from retrieval.encoding.encoder import Encoder
from training.rewards.sameness import statement_key_of
from training.rewards.score import Score
from workflows.agents.kit import Kit
from workflows.judging.citation_judge import judge_cited_relevance

MeasureRelevance: TypeAlias = Callable[[Kit | None, str, str, str], Awaitable[Score]]
"""Measures the relevance: for a judge's kit, where there is one, a question, a statement, and the quote that it cites."""


async def ask_relevance(kit: Kit | None, question: str, statement: str, quote: str) -> Score:
    """Ask a judge: 1 where the quote has a key point of the statement, else 0."""
    if kit is None:
        return Missing("there is no judge to ask")
    found = await judge_cited_relevance(kit, question, statement, quote)
    return found if isinstance(found, Missing) else float(found)


def compare_vectors(encoder: Encoder) -> MeasureRelevance:
    """Return the way that takes the cosine of both texts' vectors; a negative one is 0."""

    async def measure(_: Kit | None, __: str, statement: str, quote: str) -> Score:
        one, other = await asyncio.to_thread(encoder.encode_passages, [statement, quote])
        return max(0.0, float(one @ other))

    return measure


async def compare_words(_: Kit | None, __: str, statement: str, quote: str) -> Score:
    """Return the share of the statement's stems that the quote has. Numbers do not count."""
    said = statement_key_of(statement)
    return len(said & statement_key_of(quote)) / len(said)
