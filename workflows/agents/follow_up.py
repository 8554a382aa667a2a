"""A reader's further question, answered from the evidence of a run alone: by a model that is shown it, or in quotations."""

from collections.abc import Sequence
from functools import partial

from app.domain.budget import StopReason
from app.domain.errors import AnswerInvalid
from app.domain.evidence import Finding, Passage, Quote
from app.domain.query import ResearchQuery, detect_language
from app.domain.revision import FollowUp
from workflows.agents.asking import Asker
from workflows.agents.extractive.attribution import credit, quoted
from workflows.agents.extractive.novelty import select
from workflows.agents.extractive.question import Question, analyse
from workflows.agents.extractive.relevance import Lens
from workflows.agents.extractive.sentences import Sentence, sentences_of
from workflows.agents.extractive.words import terms
from workflows.agents.kit import Kit
from workflows.agents.reporting.book import QuoteBook
from workflows.agents.reporting.citing import cited_ids, cites, cleaned, with_markers
from workflows.agents.steps import TextStep
from workflows.agents.wording import say

ANSWERER = "follow_up"
FOLLOW_UP = TextStep("follow_up", max_tokens=2_000)
REFUSAL = "NOT IN THE EVIDENCE"
SHOWN = 40
"""How many sentences of the evidence a model is shown."""
QUOTED = 4
ON_SUBJECT = 0.6
"""The share of a question's subject that a sentence must hold to count as an answer of its own."""


async def answer(question: str, query: ResearchQuery, passages: Sequence[Passage], kit: Kit) -> FollowUp:
    """The model's answer, every citation of which resolves to a sentence of the passages.

    Raises:
        BudgetSpent, ModelError: from the record.
    """
    evidence = [sentence.quote for sentence in _nearest(_analysed(question), passages, SHOWN)]
    if not evidence:
        return _unanswered(kit)
    book = QuoteBook([Finding(subtask_id=ANSWERER, quotes=tuple(evidence), stop=StopReason.SUFFICIENT)])
    messages = kit.prompts.get("follow_up", kit.language).render(
        today=kit.today.isoformat(),
        report_question=query.question,
        question=question,
        evidence=book.shown(book.ids, kit.bounds.evidence_chars // 2),
        form=kit.codec.form(FOLLOW_UP, kit.prompts, kit.language),
    )
    text = await Asker(kit, ANSWERER).write(FOLLOW_UP, messages, partial(_check, kit, book))
    if REFUSAL in text:
        return _unanswered(kit)
    body = cleaned(text, book.ids).text
    return FollowUp(body=with_markers(body, book), quotes=tuple(book[short] for short in cited_ids(body)))


async def answer_in_quotes(question: str, query: ResearchQuery, passages: Sequence[Passage], kit: Kit) -> FollowUp:
    """The sentences that answer it, as the sources have them; none where none speaks of what is asked."""
    asked = _analysed(question)
    found = [s for s in _nearest(asked, passages, SHOWN) if asked.subject_share(s.term_set) >= ON_SUBJECT and _spoken(asked, s)]
    chosen = select([(1 / (1 + rank), sentence) for rank, sentence in enumerate(found)], QUOTED)
    if not chosen:
        return _unanswered(kit)
    told = [f"- {credit(sentence.quote, kit.language)}{quoted(sentence.quote)}" for sentence in chosen]
    return FollowUp(body="\n".join(told), quotes=tuple(sentence.quote for sentence in chosen))


def passages_around(quotes: Sequence[Quote], around: dict[str, tuple[str, str]]) -> list[Passage]:
    """Each quote with the stored copy's text before and after it; what two quotes share is there once."""
    spans: dict[str, list[tuple[int, int, str, Quote]]] = {}
    for quote in quotes:
        before, after = around.get(quote.key, ("", ""))
        start, text = quote.start - len(before), before + quote.text + after
        spans.setdefault(quote.source.snapshot, []).append((start, start + len(text), text, quote))
    return [passage for own in spans.values() for passage in _joined(sorted(own, key=lambda span: span[:2]))]


def _joined(spans: Sequence[tuple[int, int, str, Quote]]) -> list[Passage]:
    """Stretches of one snapshot that meet become one."""
    joined: list[Passage] = []
    for start, end, text, quote in spans:
        last = joined[-1] if joined else None
        if last is not None and start <= last.end:
            text = last.text + text[max(0, last.end - start) :]
            joined[-1] = last.model_copy(update={"text": text, "end": max(last.end, end)})
        else:
            joined.append(Passage(source=quote.source, text=text, start=start, end=end))
    return joined


def _analysed(question: str) -> Question:
    return analyse(ResearchQuery(question=question, language=detect_language(question)).question)


def _nearest(question: Question, passages: Sequence[Passage], most: int) -> list[Sentence]:
    """The sentences that speak most of what is asked, best first; each is exactly a stretch of its stored copy."""
    lens = Lens(question)
    scored: dict[tuple[str, int], tuple[float, Sentence]] = {}
    for passage in passages:
        for sentence in sentences_of(passage):
            share = question.subject_share(sentence.term_set)
            if share > 0:
                scored.setdefault(sentence.place, (share + lens.score(sentence), sentence))
    return [sentence for _, sentence in sorted(scored.values(), key=lambda pair: (-pair[0], pair[1].place))[:most]]


def _spoken(question: Question, sentence: Sentence) -> bool:
    """Whether a sentence is by, or names, whom the question asks to have spoken; true where it asks for nobody."""
    own = (frozenset(terms(sentence.source.author)), frozenset(terms(sentence.source.title)), sentence.term_set)
    return not question.speakers or any(name <= held for name in question.speakers for held in own)


def _check(kit: Kit, book: QuoteBook, text: str) -> None:
    if REFUSAL not in text and not cites(cleaned(text, book.ids).text):
        raise AnswerInvalid(say("cites_nothing", kit.language, id=book.ids[0]))


def _unanswered(kit: Kit) -> FollowUp:
    return FollowUp(body=say("not_in_evidence", kit.language), answered=False)
