"""Turning a draft's citations of passages into exact quotes: from each passage, the sentence nearest to the cited statement.

Systems that write while they search (MaMs, ReAct, DeepRubric) cite passages by id. For each citation the reader gets a quote.
"""

from typing import NamedTuple, Protocol

from app.domain.budget import StopReason, Usage
from app.domain.citations import MARKER, REMOVED, marker_of
from app.domain.evidence import Finding, Quote
from app.domain.plan import Subtask
from app.domain.run import EventType
from retrieval.language.sentences import split_sentences
from workflows.agents.brief import find_quotes
from workflows.agents.concurrency import give_way
from workflows.agents.kit import Kit
from workflows.agents.notebook import Notebook
from workflows.agents.passage_ids import split_at_citations
from workflows.agents.sentence_choice import choose_quotes
from workflows.agents.wording import say

PIECES_AT_ONCE = 4


class SearchWork(Protocol):
    """The result of a search that ended: the passages it saw, its thoughts, and why it stopped."""

    thoughts: list[str]
    turns: int
    stop: StopReason | None
    detail: str

    @property
    def notebook(self) -> Notebook:
        """The passages seen."""
        ...


class QuotedDraft(NamedTuple):
    """The draft with markers of quotes, the quotes, and the number of cited ids that name no passage that was seen."""

    text: str
    quotes: tuple[Quote, ...]
    invented: int


async def quote_draft(draft: str, notebook: Notebook) -> QuotedDraft:
    """Turn each `[p3]` of the draft into the marker of a quote. Ids that name no passage are removed and counted.

    Where a statement has none left, `REMOVED` stands.
    """
    passages = dict(notebook.passages)
    quotes: dict[str, Quote] = {}
    written: list[str] = []
    invented = 0
    before = ""
    for place, (piece, ids) in enumerate(split_at_citations(MARKER.sub("", draft))):
        if place % PIECES_AT_ONCE == 0:
            await give_way()
        written.append(piece if not ids else piece.rstrip(" \t"))
        before = piece if piece.strip(" \t.,;，。；") else before
        said = _last_sentence_of(before)
        for name in ids:
            invented += name not in passages
            if name in passages:
                quote = choose_quotes(passages[name], said)[0]
                quotes[quote.key] = quote
                written.append((" " if written[-1][-1:] not in ("", " ", "]") else "") + marker_of(quote))
        if ids and not passages.keys() & set(ids) and before is piece:
            written.append(REMOVED)
    return QuotedDraft("".join(written).strip(), tuple(quotes.values()), invented)


async def make_finding(draft: str, work: SearchWork, subtask: Subtask, kit: Kit, author: str, usage: Usage) -> Finding:
    """Return a finding that answers with the draft, its citations turned into exact quotes; else with the best sentences found.

    `author` is the agent path for a warning about invented ids.
    """
    quoted = await quote_draft(draft, work.notebook)
    if quoted.invented:
        message = say("ids_invented", kit.language, n=quoted.invented)
        await kit.record.tell(EventType.WARNING, author, {"message": message})
    passages = [passage for _, passage in work.notebook.passages]
    quotes = quoted.quotes or await find_quotes(subtask.question, passages, f"{author}/quotes", kit)
    stop = work.stop or StopReason.SUFFICIENT
    return Finding(
        subtask_id=subtask.id,
        answer=quoted.text,
        quotes=quotes,
        thoughts=tuple(work.thoughts),
        stop=StopReason.NO_EVIDENCE if stop is StopReason.SUFFICIENT and not quotes else stop,
        detail=work.detail,
        turns=work.turns,
        usage=usage,
    )


def _last_sentence_of(text: str) -> str:
    spans = split_sentences(text)
    return text[spans[-1].start : spans[-1].end] if spans else text
