"""The set of graph queries: from one corpus or several in turn, written by one model and judged by another."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from app.domain.errors import InvalidInput
from training.synthesis.catalogue import SetKind
from training.synthesis.graph_queries.building import read_links
from training.synthesis.graph_queries.filters import LEAST_COHERENCE
from training.synthesis.graph_queries.making import GraphCandidate, GraphKits, GraphQueries, make_graph_queries
from training.synthesis.graph_queries.row import GraphQueryRow
from training.synthesis.training_set.audit import ShownRow
from training.synthesis.training_set.outcome import KeptRow, RefusedCandidate, WorkedCandidate
from training.synthesis.training_set.recipe import SetRecipe
from training.synthesis.workshop import AUDIT, Workshop
from workflows.agents.ports import Record

MOST_CANDIDATES = 20
"""Candidates for each wanted row: a model that obeys no prompt must come to an end."""
LINKS = "links"


def open_recipe(workshop: Workshop) -> SetRecipe[GraphCandidate]:
    """Return the recipe. Graphs are kept beside the set, so that further sets find them.

    Raises:
        InvalidInput: no corpus is named.
    """
    request = workshop.request
    if not workshop.corpora:
        raise InvalidInput("graph-queries needs a --corpus")
    kits = GraphKits(workshop.open_writer, workshop.open_verifier)
    links = read_links(Path(request.options[LINKS])) if LINKS in request.options else None
    made = [make_graph_queries(corpus, kits, request.seed, request.out.parent, links) for corpus in workshop.corpora]
    work = _GraphWork({queries.corpus.name: queries for queries in made})
    candidates = islice(work.list_candidates(), MOST_CANDIDATES * request.rows)
    audit, encoder = workshop.open_audit(show_to_people), workshop.corpora[0].open_encoder
    return SetRecipe(candidates, work.make_row, count_figures, audit=audit, open_encoder=encoder, trained=("request",))


@dataclass(frozen=True, slots=True)
class _GraphWork:
    """The graph queries of each corpus by its name."""

    queries: Mapping[str, GraphQueries]

    def list_candidates(self) -> Iterator[GraphCandidate]:
        """Yield a candidate of each corpus in turn, without end."""
        for in_turn in zip(*(each.list_candidates() for each in self.queries.values()), strict=True):
            yield from in_turn

    async def make_row(self, candidate: GraphCandidate, record: Record) -> KeptRow | RefusedCandidate:
        """Make a row of a candidate."""
        return await self.queries[candidate.corpus].make_row(candidate, record)


def show_to_people(kept: KeptRow) -> ShownRow:
    """Return a question with its answer. It just passed if its coherence is the least that is kept."""
    row = GraphQueryRow.model_validate(kept.data)
    just_passed = row.coherence == LEAST_COHERENCE
    return ShownRow(f"{row.query}\n-> {row.answer.name}", f"coherence {row.coherence} of 5", row.hops, just_passed)


def count_figures(worked: Sequence[WorkedCandidate]) -> dict[str, float]:
    """Return the share of candidates that became rows, and how many were refused at each stage."""
    refused = Counter(each.refused.stage for each in worked if each.refused)
    kept = sum(each.kept is not None for each in worked)
    return {"share of candidates kept": kept / len(worked) if worked else 0.0} | {
        f"refused at {stage}": float(count) for stage, count in refused.most_common()
    }


GRAPH_QUERIES = SetKind(
    name="graph-queries",
    about="questions of one to five hops over a graph of a corpus, with path, key entities and answer (needs a model)",
    open_recipe=open_recipe,
    options=frozenset({AUDIT, LINKS}),
)
