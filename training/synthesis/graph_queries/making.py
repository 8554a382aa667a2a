"""Making rows of graph queries: sample, check, ask, obfuscate, filter, rewrite. The first failed stage refuses the candidate."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import NamedTuple

from app.domain.query import Language
from training.synthesis.graph_queries.building import Links, build_graph
from training.synthesis.graph_queries.conditions import ConditionKind
from training.synthesis.graph_queries.drafting import Drafting, QuestionDraft, find_hidden_names
from training.synthesis.graph_queries.filters import (
    find_guessed,
    find_implausible_condition,
    find_implausible_reasoning,
    score_coherence,
)
from training.synthesis.graph_queries.graph import Graph
from training.synthesis.graph_queries.research_request import Topic, write_request
from training.synthesis.graph_queries.row import (
    GraphQueryRow,
    RowSearch,
    count_row,
    list_path,
    measure_difficulty,
    show_entity,
)
from training.synthesis.graph_queries.sampling import NothingSampled, Sampler
from training.synthesis.source_corpus import SourceCorpus
from training.synthesis.training_set.outcome import KeptRow, RefusedCandidate
from workflows.agents.kit import Kit
from workflows.agents.ports import Record

HOPS = (1, 2, 2, 1, 2, 1, 2, 2, 3, 3, 3, 3, 3, 3, 3, 4, 5, 4, 5, 4)
"""The hops that are wanted of twenty candidates: 40% of one or two, 35% of three, 25% of four or five (MindDR 4.4)."""


OpenKit = Callable[[Record, Language], Kit]
"""Opens a model's kit for the work on one candidate."""


class GraphKits(NamedTuple):
    """The models: one writes, one judges."""

    open_writer: OpenKit
    open_judge: OpenKit


class GraphCandidate(NamedTuple):
    """A candidate: its id decides everything that is drawn."""

    id: str
    hops: int
    corpus: str


class _Filtered(NamedTuple):
    draft: QuestionDraft
    coherence: int
    request: str
    topic: Topic


@dataclass(frozen=True)
class GraphQueries:
    """Graph queries of one corpus. An outcome depends on a candidate's id, the seed, the corpus and the models' answers alone."""

    corpus: SourceCorpus
    graph: Graph
    kits: GraphKits
    seed: int

    def list_candidates(self) -> Iterator[GraphCandidate]:
        """Yield candidates without end."""
        number = 0
        while True:
            hops = Random(f"{self.seed} hops {number // len(HOPS)}").sample(HOPS, len(HOPS))[number % len(HOPS)]
            yield GraphCandidate(f"{self.corpus.name}-{number:06d}", hops, self.corpus.name)
            number += 1

    async def make_row(self, candidate: GraphCandidate, record: Record) -> KeptRow | RefusedCandidate:
        """Make a row of a candidate."""
        draw = Random(f"{self.seed} {candidate.id}")
        sampled = Sampler(self.graph, draw).sample(candidate.hops)
        if isinstance(sampled, NothingSampled):
            return RefusedCandidate(stage=sampled.stage, reason=sampled.reason)
        language = self.graph.find_node(sampled.subgraph.answer).language
        writer, judge = self.kits.open_writer(record, language), self.kits.open_judge(record, language)
        draft = await Drafting(self.corpus, self.graph, writer, sampled, draw).write()
        if isinstance(draft, RefusedCandidate):
            return draft
        found = await self._filter(writer, judge, draft)
        if isinstance(found, RefusedCandidate):
            return found.model_copy(update={"data": {"query": draft.worded.question}})
        return self._keep(self._make_row(candidate, found))

    async def _filter(self, writer: Kit, judge: Kit, draft: QuestionDraft) -> _Filtered | RefusedCandidate:
        """Apply the filters in order, and rewrite what passes as a request for research."""
        question, answer = draft.worded.question, draft.subgraph.answer
        if refused := await find_guessed(judge, question, self.graph.list_telling_names(answer)):
            return refused
        if refused := await find_implausible_condition(judge, question, draft.worded.conditions):
            return refused
        if refused := await find_implausible_reasoning(judge, question, draft.list_shown_hops(self.graph)):
            return refused
        coherence = await score_coherence(judge, question, self.graph.find_node(answer).name)
        if isinstance(coherence, RefusedCandidate):
            return coherence
        conditions = draft.worded.conditions
        named = [c.value for c in conditions if c.kind is ConditionKind.NAMED]
        request = await write_request(writer, question, find_hidden_names(self.graph, draft.subgraph, conditions).hidden, named)
        return request if isinstance(request, RefusedCandidate) else _Filtered(draft, coherence, *request)

    def _make_row(self, candidate: GraphCandidate, found: _Filtered) -> GraphQueryRow:
        draft, subgraph = found.draft, found.draft.subgraph
        answer = show_entity(self.graph, subgraph.answer)
        on_the_way = [show_entity(self.graph, node) for node in (*draft.list_hidden_starts(), *subgraph.between)]
        return GraphQueryRow(
            id=candidate.id,
            query=draft.worded.question,
            request=found.request,
            language=self.graph.find_node(subgraph.answer).language,
            topic=found.topic,
            entities=tuple(on_the_way) or (answer,),
            starts=tuple(show_entity(self.graph, node) for node in subgraph.starts),
            path=list_path(self.graph, subgraph),
            searches=tuple(RowSearch(query=search.query, rank=search.rank) for search in draft.searches),
            answer=answer,
            hops=len(subgraph.hops),
            difficulty=measure_difficulty(on_the_way, answer, len(subgraph.hops), draft.searches),
            conditions=draft.worded.conditions,
            first_question=draft.first.question,
            steps=draft.obfuscated.steps,
            coverage_targets=tuple(entity.name for entity in (*on_the_way, answer)),
            coherence=found.coherence,
        )

    def _keep(self, row: GraphQueryRow) -> KeptRow:
        documents = {hop.stated.url for hop in row.path} | {c.passage.url for c in row.conditions if c.passage}
        return KeptRow(
            query=row.query,
            topic=row.topic,
            language=row.language,
            documents=tuple(sorted(documents | {entity.url for entity in (*row.starts, *row.entities, row.answer)})),
            data=row.model_dump(mode="json"),
            counts=count_row(row),
        )


def make_graph_queries(
    corpus: SourceCorpus, kits: GraphKits, seed: int, folder: Path, links: Links | None = None
) -> GraphQueries:
    """Open the maker of a corpus's graph queries. Its graph is built in the folder if it is not there."""
    return GraphQueries(corpus, Graph(build_graph(corpus, folder, links)), kits, seed)
