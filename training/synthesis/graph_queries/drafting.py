"""A draft: the question of a subgraph, obfuscated, with the searches that lead from hop to hop in the question's own words."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from random import Random
from typing import NamedTuple

from app.domain.missing import Missing
from training.synthesis.graph_queries.conditions import Condition, ConditionKind
from training.synthesis.graph_queries.constraints import HopSearch, find_unreachable
from training.synthesis.graph_queries.filters import ShownHop
from training.synthesis.graph_queries.graph import Graph
from training.synthesis.graph_queries.naming import find_told
from training.synthesis.graph_queries.nouns import Subgraph
from training.synthesis.graph_queries.obfuscation import ObfuscatedConditions, StepKind, list_weakened, obfuscate
from training.synthesis.graph_queries.sampling import SampledQuery, variable_of
from training.synthesis.graph_queries.searching import plan_searches, say_clue, say_phrase, search_hops
from training.synthesis.graph_queries.wording import HiddenNames, WordedQuestion, write_question
from training.synthesis.source_corpus import SourceCorpus
from training.synthesis.training_set.outcome import RefusedCandidate
from workflows.agents.kit import Kit

UNKNOWN = "?"
WITHOUT_DESCRIBING = tuple(kind for kind in StepKind if kind is not StepKind.DESCRIBE)


class QuestionDraft(NamedTuple):
    """A question with everything it rests on. `first` is its wording before the obfuscation."""

    subgraph: Subgraph
    obfuscated: ObfuscatedConditions
    first: WordedQuestion
    worded: WordedQuestion
    searches: list[HopSearch]

    def list_hidden_starts(self) -> list[int]:
        """Return the starts that the question describes but does not name."""
        named = {c.node for c in self.worded.conditions if c.kind is ConditionKind.NAMED}
        return [start for start in self.subgraph.starts if start not in named]

    def list_shown_hops(self, graph: Graph) -> list[ShownHop]:
        """Return all searches with what they lead from and to; a start that is not named is searched before its arm."""
        steps: list[tuple[str, str]] = []
        for arm in self.subgraph.arms:
            names = [graph.find_node(node).name for node in arm.nodes]
            steps += [(UNKNOWN, names[0])] if arm.nodes[0] in self.list_hidden_starts() else []
            steps += pairwise(names)
        return [ShownHop(known, found, search) for (known, found), search in zip(steps, self.searches, strict=True)]


@dataclass(frozen=True)
class Drafting:
    """The work on one sampled subgraph."""

    corpus: SourceCorpus
    graph: Graph
    writer: Kit
    sampled: SampledQuery
    draw: Random

    async def write(self) -> QuestionDraft | RefusedCandidate:
        """Write the question, obfuscate it, and measure that each hop is found with the question's own words."""
        before = self.sampled.conditions
        if lost := await self._find_unreachable(before):
            return self._refuse("reachability", lost)
        obfuscated = await self._obfuscate()
        if told := self._find_telling_value((*before, *obfuscated.conditions)):
            return self._refuse("names", told)
        first = await write_question(self.writer, before, self._find_meant(before))
        if isinstance(first, Missing):
            return self._refuse("question", first.reason)
        worded = await self._reword(first, obfuscated.conditions)
        if isinstance(worded, Missing):
            return self._refuse("obfuscation", worded.reason, first.question)
        searches = await search_hops(self.corpus, plan_searches(self.graph, self._subgraph, worded.conditions, say_phrase))
        if lost := find_unreachable(searches):
            return self._refuse("reachability of the question", lost, worded.question)
        return QuestionDraft(self._subgraph, obfuscated, first, worded, searches)

    @property
    def _subgraph(self) -> Subgraph:
        return self.sampled.subgraph

    def _refuse(self, stage: str, reason: str, question: str = "") -> RefusedCandidate:
        data = {"answer": self.graph.find_node(self._subgraph.answer).name, "query": question}
        return RefusedCandidate(stage=stage, reason=reason, data=data)

    async def _find_unreachable(self, conditions: Sequence[Condition]) -> str:
        planned = plan_searches(self.graph, self._subgraph, conditions, say_clue)
        return find_unreachable(await search_hops(self.corpus, planned))

    async def _obfuscate(self) -> ObfuscatedConditions:
        """Obfuscate; where a start that is only described is not found by a search, its name stays."""
        state, answer = self.draw.getstate(), self._subgraph.answer
        found = obfuscate(self.graph, self.sampled.conditions, answer, self.draw)
        if not await self._find_unreachable(found.conditions):
            return found
        self.draw.setstate(state)
        return obfuscate(self.graph, self.sampled.conditions, answer, self.draw, WITHOUT_DESCRIBING)

    async def _reword(self, first: WordedQuestion, conditions: tuple[Condition, ...]) -> WordedQuestion | Missing:
        if conditions == self.sampled.conditions:
            return first
        meant = self._find_meant(conditions)._replace(removed=tuple(list_weakened(self.sampled.conditions, conditions)))
        return await write_question(self.writer, conditions, meant, first.question)

    def _find_meant(self, conditions: Sequence[Condition]) -> HiddenNames:
        return find_hidden_names(self.graph, self._subgraph, conditions)

    def _find_telling_value(self, conditions: Sequence[Condition]) -> str:
        """Return why a value that the question has to say would tell a name that it must not say."""
        hidden = self._find_meant(self.sampled.conditions).hidden
        told = [(c.value, find_told(hidden, c.value)) for c in conditions if c.kind is not ConditionKind.LINKED]
        return next((f"the value {value!r} tells {name!r}" for value, name in told if name), "")


def find_hidden_names(graph: Graph, subgraph: Subgraph, conditions: Sequence[Condition]) -> HiddenNames:
    """Return the names behind the variables, and those that a question with these conditions must not say."""
    named = {c.about for c in conditions if c.kind is ConditionKind.NAMED}
    nodes = {
        variable_of(letter, place, len(arm.hops)): node
        for letter, arm in enumerate(subgraph.arms)
        for place, node in enumerate(arm.nodes)
    }
    hidden = [name for about, node in nodes.items() if about not in named for name in graph.list_telling_names(node)]
    return HiddenNames({about: graph.find_node(node).name for about, node in nodes.items()}, tuple(dict.fromkeys(hidden)))
