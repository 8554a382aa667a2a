"""The claims of an answer that cites passages behind its statements: `The tariff was to bring revenue [p1].`

MindDR's search agent, MaMs and ReAct cite so. As in the product, a citation belongs to the sentence before it.
"""

from retrieval.language.sentences import split_sentences
from training.rewards.cited_claims import CitedClaim, cited_claims_of
from workflows.agents.passage_ids import flatten_cite_spans, split_at_citations

_BETWEEN = " \t.,;，。；"


def bracketed_claims_of(answer: str, published: bool = False) -> list[CitedClaim]:
    """Return the claims of an answer that cites in brackets, in order."""
    return cited_claims_of(_write_spans(flatten_cite_spans(answer)), published)


def _write_spans(answer: str) -> str:
    """Put each cited sentence into a citation span. Citations that follow one another share one."""
    written: list[str] = []
    said, cited = "", list[str]()
    for piece, ids in split_at_citations(answer):
        piece = piece.rstrip(" \t") if ids else piece
        if piece.strip(_BETWEEN):
            written.append(_write_span(said, cited))
            said, cited = piece, []
        else:
            said += piece
        cited += ids
    return "".join((*written, _write_span(said, cited)))


def _write_span(said: str, cited: list[str]) -> str:
    if not cited:
        return said
    spans = split_sentences(said)
    start = max(spans[-1].start if spans else 0, len(said) - len(said.lstrip(_BETWEEN)))
    return f'{said[:start]}<cite id="{",".join(cited)}">{said[start:]}</cite>'
