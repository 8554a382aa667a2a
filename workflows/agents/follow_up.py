"""Answering a reader's follow-up question from a run's evidence alone, by a model or in quotations."""

from collections.abc import Sequence
from functools import partial
from itertools import zip_longest

from app.domain.budget import StopReason
from app.domain.evidence import Finding, Passage, Quote
from app.domain.query import ResearchQuery
from app.domain.revision import FollowUp
from workflows.agents.answer_reading import check_length
from workflows.agents.asker import Asker
from workflows.agents.brief import find_nearest_quotes, quote_answer
from workflows.agents.citation_cleaning import clean_citations, has_citation
from workflows.agents.cited_statements import put_markers
from workflows.agents.evidence_book import EvidenceBook, join_passages
from workflows.agents.failures import refuse_answer
from workflows.agents.kit import Kit
from workflows.agents.steps import TextStep
from workflows.agents.wording import say

ANSWERER = "follow_up"
FOLLOW_UP = TextStep("follow_up", max_tokens=2_000)
ANSWER_WORDS = 200
SHOWN = 40
REFUSAL = "NOT IN THE EVIDENCE"


async def answer_from_evidence(
    question: str, query: ResearchQuery, quotes: Sequence[Quote], passages: Sequence[Passage], kit: Kit
) -> FollowUp:
    """Return the model's answer; every citation of it resolves to one of the quotes or a sentence of the passages around them.

    The model reads the sentences that share words with the question, then the quotes: a question in other words than the
    sources', or in another language, shares none.

    Raises:
        BudgetSpent, ModelError: from the record.
    """
    evidence = [*find_nearest_quotes(question, passages), *_take_turns(quotes)][:SHOWN]
    if not evidence:
        return _make_refusal(kit)
    book = EvidenceBook([Finding(subtask_id=ANSWERER, quotes=tuple(evidence), stop=StopReason.SUFFICIENT)])
    messages = kit.prompts.get("follow_up", kit.language).render(
        today=kit.today.isoformat(),
        report_question=query.question,
        question=question,
        evidence=book.format_passages(book.ids, kit.bounds.evidence_chars // 2),
        form=kit.codec.describe_form(FOLLOW_UP, kit.prompts, kit.language),
    )
    text = await Asker(kit, ANSWERER).write(FOLLOW_UP, messages, partial(_check_answer, kit, book))
    if REFUSAL in text:
        return _make_refusal(kit)
    cited = put_markers(clean_citations(text, book.ids).text, book)
    return FollowUp(body=cited.body, quotes=cited.quotes)


async def answer_in_quotes(question: str, query: ResearchQuery, passages: Sequence[Passage], kit: Kit) -> FollowUp:
    """Answer with sentences of the sources, or say that the evidence has no answer."""
    return quote_answer(question, passages, kit.language) or _make_refusal(kit)


def widen_quotes(quotes: Sequence[Quote], around: dict[str, tuple[str, str]], read: Sequence[Passage] = ()) -> list[Passage]:
    """Return each quote with the stored copy's text around it, and what was `read`; overlapping stretches are joined."""
    return join_passages([*(_widen(quote, *around.get(quote.key, ("", ""))) for quote in quotes), *read])


def _widen(quote: Quote, before: str, after: str) -> Passage:
    start, text = quote.start - len(before), before + quote.text + after
    return quote.to_passage().model_copy(update={"text": text, "start": start, "end": start + len(text)})


def _take_turns(quotes: Sequence[Quote]) -> list[Quote]:
    """Order quotes so that each source has its turn."""
    by_source: dict[str, list[Quote]] = {}
    for quote in quotes:
        by_source.setdefault(quote.source.url, []).append(quote)
    return [quote for turn in zip_longest(*by_source.values()) for quote in turn if quote is not None]


def _check_answer(kit: Kit, book: EvidenceBook, text: str) -> None:
    check_length(text, ANSWER_WORDS, kit.language)
    if REFUSAL not in text and not has_citation(clean_citations(text, book.ids).text):
        raise refuse_answer("cites_nothing", kit.language, id=book.ids[0])


def _make_refusal(kit: Kit) -> FollowUp:
    return FollowUp(body=say("not_in_evidence", kit.language), answered=False)
