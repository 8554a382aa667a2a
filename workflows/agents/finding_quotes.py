"""An agent's finding: each passage that its answer cites is quoted by the words that stand for the statement which cites it."""

import re
from collections.abc import Iterable

from pydantic import Field

from app.domain.citations import MARKER, marker_of
from app.domain.evidence import Passage, Quote, SourceConflict
from workflows.agents.bracketed_ids import write_ids_plainly
from workflows.agents.cited_statements import find_statement
from workflows.agents.notebook import Notebook
from workflows.agents.passage_ids import citation_pattern_of
from workflows.agents.sentence_choice import choose_quotes
from workflows.agents.steps import StepAnswer, declare_step

MAX_LISTED = 8
ANSWER_CHARS = 12_000
"""Of a longer answer the rest is left out: its passages reach the writer all the same."""
ABOUT_CHARS = 500


class ConflictAnswer(StepAnswer):
    """Passages that disagree."""

    about: str = Field(default="", description="what they disagree about, in one sentence")
    passages: tuple[str, ...] = Field(default=(), description="ids of the passages that disagree")


class FindingAnswer(StepAnswer):
    """The agent's result."""

    answer: str = Field(
        default="",
        description="the answer to the subtask, each statement followed by its passage ids as [p3]",
    )
    passages: tuple[str, ...] = Field(default=(), description="ids of further passages that the report's writer should read")
    gaps: tuple[str, ...] = Field(default=(), description="what stayed unanswered")
    conflicts: tuple[ConflictAnswer, ...] = ()


FINDING = declare_step("finding", FindingAnswer, max_tokens=3_000, spare=["passages", "conflicts"])


class QuotedFinding:
    """The answer with markers of quotes, and the disagreements; `invented` counts the ids that name no passage.

    A passage that is noted, or named in a disagreement, is one that the report's writer reads.
    """

    def __init__(self, said: FindingAnswer, notebook: Notebook) -> None:
        self._notebook = notebook
        self._passages = dict(notebook.passages)
        self._noted = {short for name in said.passages if (short := notebook.id_of(name))}
        self._quotes: dict[str, Quote] = {}
        self.invented = 0
        self.answer = self._put_markers(said.answer[:ANSWER_CHARS])
        self.conflicts = self._list_conflicts(said.conflicts)

    @property
    def quotes(self) -> tuple[Quote, ...]:
        """All quotes, in the order in which they are cited."""
        return tuple(self._quotes.values())

    @property
    def passages(self) -> tuple[Passage, ...]:
        """The passages that are cited, noted or named in a disagreement, in the order in which they were seen."""
        return tuple(passage for short, passage in self._passages.items() if short in self._noted)

    def _quote_for(self, said: str, statement: str) -> list[Quote]:
        """Return what the passage that `said` names has for a statement; nothing where there is no such passage."""
        short = self._notebook.id_of(said)
        if short is None:
            self.invented += 1
            return []
        self._noted.add(short)
        found = choose_quotes(self._passages[short], statement)
        self._quotes |= {quote.key: quote for quote in found}
        return found

    def _put_markers(self, text: str) -> str:
        plain = write_ids_plainly(MARKER.sub("", text), "p", self._passages)

        def replace(match: re.Match[str]) -> str:
            statement = find_statement(plain, match.start())
            quotes = [quote for said in re.split(r"[,;，、]", match.group(1)) for quote in self._quote_for(said, statement)]
            return "".join(dict.fromkeys(map(marker_of, quotes)))

        return citation_pattern_of(plain).sub(replace, plain).strip()

    def _list_conflicts(self, said: Iterable[ConflictAnswer]) -> tuple[SourceConflict, ...]:
        """Return the disagreements that rest on at least two passages."""
        found: list[SourceConflict] = []
        for conflict in said:
            quotes = [quotes[0] for name in conflict.passages if (quotes := self._quote_for(name, conflict.about))]
            keys = tuple(dict.fromkeys(quote.key for quote in quotes))
            if len(keys) > 1 and conflict.about.strip():
                found.append(SourceConflict(about=conflict.about.strip()[:ABOUT_CHARS], quote_keys=keys))
        return tuple(found[:MAX_LISTED])
