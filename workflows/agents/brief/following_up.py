"""A reader's further question, answered in quotations from the evidence of a run."""

from collections.abc import Sequence

from app.domain.evidence import Passage, Quote
from app.domain.query import Language
from app.domain.revision import FollowUp
from workflows.agents.brief.choosing import choose_units
from workflows.agents.brief.layout import quote_text
from workflows.agents.brief.ranking import RankedUnit, rank_units
from workflows.agents.brief.splitting import split_passages
from workflows.agents.brief.wording import title_of

QUOTED_WORDS = 120
ON_SUBJECT = 0.4
"""The score, mostly the share of the question's words, from which a sentence counts as an answer."""


def find_nearest_quotes(question: str, passages: Sequence[Passage]) -> list[Quote]:
    """Find the sentences that share most words with the question, best first."""
    return [each.unit.to_quote() for each in _rank(question, passages)]


def quote_answer(question: str, passages: Sequence[Passage], language: Language) -> FollowUp | None:
    """Answer in sentences as the sources have them; None where none speaks of what is asked."""
    near = [each for each in _rank(question, passages) if each.score >= ON_SUBJECT]
    quotes = tuple(each.unit.to_quote() for each in choose_units(near, QUOTED_WORDS))
    if not quotes:
        return None
    lines = [f"- {title_of(quote.source, language)}: {quote_text(quote)}" for quote in quotes]
    return FollowUp(body="\n".join(lines), quotes=quotes)


def _rank(question: str, passages: Sequence[Passage]) -> list[RankedUnit]:
    units = split_passages(passages)
    return [each for each in rank_units(question, units) if each.score > 0]
