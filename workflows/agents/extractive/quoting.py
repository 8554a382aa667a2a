"""The best quotations out of passages already found, for a search that ran out before a model could choose them."""

from collections.abc import Sequence

from app.domain.evidence import Passage, Quote
from workflows.agents.extractive.chains import direct_score
from workflows.agents.extractive.focus import MANY, on_subject
from workflows.agents.extractive.hits import Hits
from workflows.agents.extractive.links import telling_sentence
from workflows.agents.extractive.novelty import repeats
from workflows.agents.extractive.question import analyse
from workflows.agents.extractive.sentences import Sentence
from workflows.agents.extractive.statements import lens_for, statements

UNRANKED = 99


def best_quotes(question: str, passages: Sequence[Passage], limit: int) -> tuple[Quote, ...]:
    """Up to `limit` quotations, the one that serves the question best first: exact stretches, none repeating another."""
    asked = analyse(question)
    hits = Hits(asked.period)
    hits.add(passages)
    if not hits:
        hits.relax()
    fitting = on_subject(asked, list(hits))
    if len(fitting) >= MANY:
        return tuple(sentence.quote for sentence in statements(lens_for(asked, fitting, {}), fitting, limit))
    ranked = sorted(hits, key=lambda hit: (-direct_score(asked, hit, UNRANKED), hit.key))
    chosen: list[Sentence] = []
    for hit in ranked:
        sentence = telling_sentence(asked, hit, frozenset()) if asked.subject_share(hit.terms) else None
        if sentence is not None and len(chosen) < limit and not any(repeats(sentence.term_set, s.term_set) for s in chosen):
            chosen.append(sentence)
    return tuple(sentence.quote for sentence in chosen)
