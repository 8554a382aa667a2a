"""All evidence of a report under short ids: `q1`, `q2`, ... in the order of the plan, duplicates across findings merged."""

import re
from collections.abc import Iterable, Sequence

from app.domain.citations import MARKER, REMOVED
from app.domain.evidence import Finding, Quote, QuoteSurroundings, SourceConflict
from workflows.agents.finding_quotes import find_widest
from workflows.agents.untrusted import as_attribute, as_data, as_source

_ID = re.compile(r"(?<![a-z0-9])q(\d{1,6})(?![a-z0-9])", re.IGNORECASE)
MIN_SHOWN = 120
AROUND_FRAME = 20
NO_QUOTE = "q0"
"""The id that stands where a citation named no quote and was removed."""


class QuoteBook:
    """Quotes by short id. A quote that lies inside another, or has the same words, shares the other's id."""

    def __init__(self, findings: Sequence[Finding]) -> None:
        found = [quote for finding in findings for quote in finding.quotes]
        widest = find_widest(found)
        words = {quote.key: _fold_words(widest[quote.key].text) for quote in found}
        by_words: dict[str, Quote] = {}
        for quote in found:
            by_words.setdefault(words[quote.key], widest[quote.key])
        self._quotes = {f"q{i}": quote for i, quote in enumerate(by_words.values(), 1)}
        ids = dict(zip(by_words, self._quotes, strict=True))
        self._ids = {quote.key: ids[words[quote.key]] for quote in found}
        self._findings = findings
        self._of_finding = {f.subtask_id: tuple(dict.fromkeys(self._ids[quote.key] for quote in f.quotes)) for f in findings}
        self._around = {self._ids[a.key]: a for finding in findings for a in finding.around if a.key in self._ids}

    def __len__(self) -> int:
        return len(self._quotes)

    @property
    def ids(self) -> tuple[str, ...]:
        """All short ids, in order."""
        return tuple(self._quotes)

    def __getitem__(self, short: str) -> Quote:
        return self._quotes[short]

    def around(self, short: str) -> QuoteSurroundings | None:
        """Return the text around a quote; None where its search brought none."""
        return self._around.get(short)

    def ids_in(self, text: str) -> tuple[str, ...]:
        """Return the known ids that `text` names, each once, in order."""
        named = (f"q{int(number)}" for number in _ID.findall(text))
        return tuple(dict.fromkeys(short for short in named if short in self._quotes))

    def ids_of_finding(self, finding: Finding) -> tuple[str, ...]:
        """Return the ids of a finding's quotes."""
        return self._of_finding[finding.subtask_id]

    def put_ids(self, text: str) -> str:
        """Return a finding's text with its markers turned into ids."""
        known = text.replace(REMOVED, f"[{NO_QUOTE}]")
        return MARKER.sub(lambda m: f"[{self._ids[m.group(1)]}]" if m.group(1) in self._ids else "", known)

    def list_conflicts(self) -> list[tuple[str, tuple[str, ...]]]:
        """Return the disagreements that the search agents noticed: the subject, and the ids that disagree."""
        told = [(c.about, self._known_ids_of(c)) for finding in self._findings for c in finding.conflicts]
        return [(about, ids) for about, ids in told if len(ids) > 1]

    def _known_ids_of(self, conflict: SourceConflict) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self._ids[key] for key in conflict.quote_keys if key in self._ids))

    def format_quotes(self, ids: Iterable[str], chars: int) -> str:
        """Return these quotes as data for a prompt, all shortened to the same length so that they fit into `chars`."""
        wanted = tuple(ids)
        share = max(MIN_SHOWN, chars // max(1, len(wanted)) - MIN_SHOWN)
        return "\n".join(self._format_quote(short, share) for short in wanted)[: 2 * chars]

    def format_surroundings(self, ids: Iterable[str], chars: int) -> str:
        """Return the text around these quotes as data for a prompt, all shortened alike so that they fit into `chars`."""
        wanted = tuple(short for short in ids if short in self._around)
        share = chars // max(1, 2 * len(wanted)) - AROUND_FRAME
        return "\n".join(self._format_around(short, share) for short in wanted) if share > 0 else ""

    def _format_around(self, short: str, share: int) -> str:
        around = self._around[short]
        shown = f"…{around.before[-share:]} [{short}] {around.after[:share]}…"
        return f'<around id="{short}">{as_data(" ".join(shown.split()))}</around>'

    def _format_quote(self, short: str, share: int) -> str:
        quote = self._quotes[short]
        date = f", {quote.source.published.isoformat()}" if quote.source.published else ""
        text = quote.text if len(quote.text) <= share else quote.text[:share] + " …"
        return f'<quote id="{short}" source="{as_attribute(quote.source.title)}{date}">{as_source(text)}</quote>'


def _fold_words(text: str) -> str:
    return " ".join(text.casefold().split())
