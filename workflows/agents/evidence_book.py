"""All evidence of a report under short ids: whole passages `q1`, `q2`, ..., document by document, in the order of the plan.

Overlapping passages of a document are one. A quote that lies in no passage, as where a search went without the model, is one of
its own. What a citation of a passage quotes is chosen by the statement that cites it (`sentence_choice`).
"""

import re
from collections.abc import Collection, Iterable, Sequence

from app.domain.citations import MARKER, MARKER_RUN, REMOVED
from app.domain.evidence import Finding, Passage, Quote, SourceConflict
from workflows.agents.sentence_choice import choose_quotes
from workflows.agents.shared_terms import count_shared_terms, terms_of
from workflows.agents.shown_passages import format_documents, show_passage
from workflows.agents.untrusted import as_data

_ID = re.compile(r"(?<![a-z0-9])q(\d{1,6})(?![a-z0-9])", re.IGNORECASE)
NO_QUOTE = "q0"
"""The id that stands where a citation named nothing and was removed."""


class EvidenceBook:
    """Passages by short id. One whose words another has, of whatever source, shares the other's id.

    `cited` are quotes of a finished report, whose markers may have to be turned into ids.
    """

    def __init__(self, findings: Sequence[Finding], cited: Sequence[Quote] = ()) -> None:
        quotes = [*(quote for finding in findings for quote in finding.quotes), *cited]
        passages = [passage for finding in findings for passage in finding.passages]
        joined = join_passages([*passages, *(quote.to_passage() for quote in quotes)])
        by_words: dict[str, str] = {}
        self._passages: dict[str, Passage] = {}
        self._places: list[tuple[Passage, str]] = []
        for passage in joined:
            short = by_words.setdefault(_fold_words(passage.text), f"q{len(self._passages) + 1}")
            self._passages.setdefault(short, passage)
            self._places.append((passage, short))
        self._ids: dict[str, str] = {}
        self._quotes: dict[str, list[Quote]] = {}
        for quote in quotes:
            short = self._ids[quote.key] = self._find_place(quote)
            self._quotes.setdefault(short, []).append(quote)
        self._read = {self._find_place(passage) for passage in passages}
        self._findings = findings

    def __len__(self) -> int:
        return len(self._passages)

    @property
    def ids(self) -> tuple[str, ...]:
        """All short ids, in order."""
        return tuple(self._passages)

    def __getitem__(self, short: str) -> Passage:
        return self._passages[short]

    def quote(self, short: str, statement: str) -> list[Quote]:
        """Return the words of a passage that stand for a statement: where there is no more than quotes, one of these."""
        passage, known = self._passages[short], self._quotes.get(short, [])
        if short not in self._read:
            terms = terms_of(statement)
            return [max(known, key=lambda quote: count_shared_terms(quote.text, terms))]
        return choose_quotes(passage, statement, [quote for quote in known if passage.holds(quote)])

    def ids_of_keys(self, keys: Collection[str]) -> tuple[str, ...]:
        """Return the ids of the passages in which these quotes stand, in order."""
        wanted = {self._ids[key] for key in keys if key in self._ids}
        return tuple(short for short in self._passages if short in wanted)

    def ids_in(self, text: str) -> tuple[str, ...]:
        """Return the known ids that `text` names, each once, in order."""
        named = (f"q{int(number)}" for number in _ID.findall(text))
        return tuple(dict.fromkeys(short for short in named if short in self._passages))

    def ids_of_finding(self, finding: Finding) -> tuple[str, ...]:
        """Return the ids of a finding's evidence."""
        evidence: list[Passage | Quote] = [*finding.passages, *finding.quotes]
        return tuple(dict.fromkeys(map(self._find_place, evidence)))

    def put_ids(self, text: str) -> str:
        """Return a text with its markers turned into ids; those next to each other that name the same passage become one."""
        known = text.replace(REMOVED, f"[{NO_QUOTE}]")
        return MARKER_RUN.sub(lambda run: "".join(dict.fromkeys(map(self._show_id, MARKER.findall(run.group())))), known)

    def _show_id(self, key: str) -> str:
        return f"[{self._ids[key]}]" if key in self._ids else ""

    def list_conflicts(self) -> list[tuple[str, tuple[str, ...]]]:
        """Return the disagreements that the search agents noticed: the subject, and the ids that disagree."""
        told = [(" ".join(c.about.split()), self._known_ids_of(c)) for finding in self._findings for c in finding.conflicts]
        return list({(about, frozenset(ids)): (about, ids) for about, ids in told if about and len(ids) > 1}.values())

    def _known_ids_of(self, conflict: SourceConflict) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self._ids[key] for key in conflict.quote_keys if key in self._ids))

    def format_passages(self, ids: Iterable[str], chars: int) -> str:
        """Return these passages as data for a prompt, under their documents, whole as many as fit into `chars`."""
        wanted, left = set(ids), chars
        shown: list[str] = []
        for short in (short for short in self._passages if short in wanted):
            left -= len(self._passages[short].text)
            if left < 0 and shown:
                break
            shown.append(short)
        return format_documents(show_passage(short, self._passages[short], chars) for short in shown)

    def _find_place(self, wanted: Passage | Quote) -> str:
        return next(short for passage, short in self._places if passage.holds(wanted))


def join_passages(passages: Iterable[Passage]) -> list[Passage]:
    """Join overlapping passages of a document, and order them in it. Documents stay in the order in which they first come."""
    documents: dict[str, list[Passage]] = {}
    for passage in passages:
        documents.setdefault(passage.source.snapshot, []).append(passage)
    return [joined for own in documents.values() for joined in _join_spans(sorted(own, key=lambda p: (p.start, p.end)))]


def _join_spans(passages: Sequence[Passage]) -> list[Passage]:
    joined: list[Passage] = []
    for passage in passages:
        last = joined[-1] if joined else None
        if last is not None and passage.start <= last.end:
            text = last.text + passage.text[max(0, last.end - passage.start) :]
            blocks = sorted({block.start: block for block in (*passage.blocks, *last.blocks)}.values(), key=lambda b: b.start)
            joined[-1] = last.model_copy(update={"text": text, "end": max(last.end, passage.end), "blocks": tuple(blocks)})
        else:
            joined.append(passage)
    return joined


def _fold_words(text: str) -> str:
    return " ".join(text.casefold().split())


def format_conflicts(conflicts: Sequence[tuple[str, tuple[str, ...]]]) -> str:
    """Return the disagreements as a prompt shows them."""
    return "\n".join(f"- {as_data(about)} ({', '.join(ids)})" for about, ids in conflicts)
