"""A reader's further question, answered in quotations from the evidence of a run."""

from collections.abc import Sequence

from app.domain.evidence import Passage, Quote
from app.domain.query import Language, ResearchQuery, detect_language
from app.domain.revision import FollowUp
from workflows.agents.extractive.attribution import credit, quoted
from workflows.agents.extractive.novelty import select
from workflows.agents.extractive.question import Question, analyse
from workflows.agents.extractive.relevance import Lens
from workflows.agents.extractive.sentences import Sentence, sentences_of
from workflows.agents.extractive.words import terms

SHOWN = 40
"""How many sentences of the evidence are looked at."""
QUOTED = 4
ON_SUBJECT = 0.6
"""The share of a question's subject that a sentence must hold to count as an answer of its own."""


def nearest_quotes(question: str, passages: Sequence[Passage]) -> list[Quote]:
    """Find the sentences that speak most of what is asked, best first; each is exactly a stretch of its stored copy."""
    return [sentence.quote for sentence in _nearest(_analysed(question), passages)]


def quote_answer(question: str, passages: Sequence[Passage], language: Language) -> FollowUp | None:
    """Answer in sentences as the sources have them; None where none speaks of what is asked."""
    asked = _analysed(question)
    found = [s for s in _nearest(asked, passages) if asked.subject_share(s.term_set) >= ON_SUBJECT and _spoken(asked, s)]
    chosen = select([(1 / (1 + rank), sentence) for rank, sentence in enumerate(found)], QUOTED)
    if not chosen:
        return None
    told = [f"- {credit(sentence.quote, language)}{quoted(sentence.quote)}" for sentence in chosen]
    return FollowUp(body="\n".join(told), quotes=tuple(sentence.quote for sentence in chosen))


def _analysed(question: str) -> Question:
    return analyse(ResearchQuery(question=question, language=detect_language(question)).question)


def _nearest(question: Question, passages: Sequence[Passage]) -> list[Sentence]:
    lens = Lens(question)
    scored: dict[tuple[str, int], tuple[float, Sentence]] = {}
    for passage in passages:
        for sentence in sentences_of(passage):
            share = question.subject_share(sentence.term_set)
            if share > 0:
                scored.setdefault(sentence.place, (share + lens.score(sentence), sentence))
    return [sentence for _, sentence in sorted(scored.values(), key=lambda pair: (-pair[0], pair[1].place))[:SHOWN]]


def _spoken(question: Question, sentence: Sentence) -> bool:
    """Whether a sentence is by, or names, whom the question asks to have spoken; true where it asks for nobody."""
    own = (frozenset(terms(sentence.source.author)), frozenset(terms(sentence.source.title)), sentence.term_set)
    return not question.speakers or any(name <= held for name in question.speakers for held in own)
