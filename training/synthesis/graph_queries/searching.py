"""The searches of reachability: each asks for the next entity with nothing but what is known by then."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from training.synthesis.graph_queries.conditions import Condition, ConditionKind
from training.synthesis.graph_queries.constraints import SEARCH_RESULTS, HopSearch
from training.synthesis.graph_queries.graph import Graph
from training.synthesis.graph_queries.naming import mask_names
from training.synthesis.graph_queries.nouns import Arm, StatingSentence, Subgraph
from training.synthesis.graph_queries.sampling import variable_of
from training.synthesis.source_corpus import SourceCorpus

LONGEST_QUERY = 600


class PlannedSearch(NamedTuple):
    """A query, and the passages of which it has to find one."""

    query: str
    wanted: tuple[StatingSentence, ...]


def say_clue(condition: Condition) -> str:
    """Return the words of a condition that has no wording yet: those of its passage, or the attribute itself."""
    if condition.kind is ConditionKind.LINKED and condition.passage:
        return condition.passage.text
    return condition.value if condition.low is None else f"{condition.low:g} {condition.value}".strip()


def say_phrase(condition: Condition) -> str:
    """Return the words of the question that say a condition."""
    return condition.phrase


def plan_searches(
    graph: Graph, subgraph: Subgraph, conditions: Sequence[Condition], say: Callable[[Condition], str]
) -> list[PlannedSearch]:
    """Plan a search for each hop, arm by arm, and before them one for each start that is not named."""
    return [planned for letter, arm in enumerate(subgraph.arms) for planned in _plan_arm(graph, arm, letter, conditions, say)]


def _plan_arm(
    graph: Graph, arm: Arm, letter: int, conditions: Sequence[Condition], say: Callable[[Condition], str]
) -> list[PlannedSearch]:
    names = [graph.list_telling_names(node) for node in arm.nodes]
    planned: list[PlannedSearch] = []
    for place in range(len(arm.nodes)):
        about = variable_of(letter, place, len(arm.hops))
        own = [c for c in conditions if c.about == about and c.kind is not ConditionKind.LINKED]
        if place == 0 and any(c.kind is ConditionKind.NAMED for c in own):
            continue
        link = [c for c in conditions if c.about == about and c.to == variable_of(letter, place - 1, len(arm.hops))]
        known = names[place - 1][:1] if place else ()
        unknown = [name for later in names[place:] for name in later]
        words = mask_names(unknown, " ".join(map(say, [*link, *own])))
        wanted = [c.passage for c in (link or own) if c.passage]
        planned.append(PlannedSearch(" ".join((*known, words))[:LONGEST_QUERY], tuple(wanted)))
    return planned


async def search_hops(corpus: SourceCorpus, planned: Sequence[PlannedSearch]) -> list[HopSearch]:
    """Make the searches, with the product's own search."""
    return [HopSearch(each.query, each.wanted, await corpus.search(each.query, SEARCH_RESULTS)) for each in planned]
