"""The row of a graph query, as training reads it (MindDR 4.5), and its difficulty."""

from collections import Counter
from collections.abc import Sequence
from enum import StrEnum

from app.domain.query import Language
from app.domain.value import Value
from training.synthesis.graph_queries.conditions import Condition
from training.synthesis.graph_queries.constraints import HopSearch
from training.synthesis.graph_queries.graph import Graph
from training.synthesis.graph_queries.naming import list_title_names
from training.synthesis.graph_queries.nouns import Category, StatingSentence, Subgraph
from training.synthesis.graph_queries.obfuscation import ObfuscationStep
from training.synthesis.graph_queries.research_request import Topic

EASY_HOPS, MEDIUM_HOPS = 2, 3
SPARSE = 2
"""An answer of which at most so many sentences speak in other documents is hard to find."""
MANY_CATEGORIES = 3
SIGNS_FOR_HARDER = 2


class Difficulty(StrEnum):
    """The difficulty of a question."""

    EASY = "easy"
    MEDIUM = "medium"
    HARD = "hard"


class RowEntity(Value):
    """An entity with its names. `ambiguity` counts the entities that share one of them; `passages` those that name it."""

    name: str
    aliases: tuple[str, ...] = ()
    url: str
    category: Category
    ambiguity: int
    passages: int


class RowHop(Value):
    """A hop: two entities by name, the sentence that links them, and the search that found it."""

    arm: int
    known: str
    found: str
    stated: StatingSentence


class RowSearch(Value):
    """A search that a row was measured with, and the place of the wanted passage among its results."""

    query: str
    rank: int


class MeasuredDifficulty(Value):
    """The level, and what it was measured from."""

    level: Difficulty
    hops: int
    categories: int
    ambiguity: int
    answer_passages: int
    worst_rank: int


class GraphQueryRow(Value):
    """A question over a path of entities.

    `entities` is the key entity set: what has to be met on the way. With one hop from a named start nothing lies on the way, and
    the set is the answer. `coverage_targets` are the names that a report on `request` has to cover.
    """

    id: str
    query: str
    request: str
    language: Language
    topic: Topic
    entities: tuple[RowEntity, ...]
    starts: tuple[RowEntity, ...]
    path: tuple[RowHop, ...]
    searches: tuple[RowSearch, ...]
    answer: RowEntity
    hops: int
    difficulty: MeasuredDifficulty
    conditions: tuple[Condition, ...]
    first_question: str
    steps: tuple[ObfuscationStep, ...]
    coverage_targets: tuple[str, ...]
    coherence: int


def show_entity(graph: Graph, node: int) -> RowEntity:
    """Return a node as a row has it. A shortened name is no alias: whoever meets another bearer of it has not met the entity."""
    found = graph.find_node(node)
    short = list_title_names(found.name)[1:]
    return RowEntity(
        name=found.name,
        aliases=tuple(alias for alias in found.aliases if alias not in short),
        url=found.url,
        category=found.category,
        ambiguity=found.ambiguity,
        passages=graph.count_naming(node),
    )


def list_path(graph: Graph, subgraph: Subgraph) -> tuple[RowHop, ...]:
    """Return the hops of all arms."""
    return tuple(
        RowHop(
            arm=number,
            known=graph.find_node(hop.known).name,
            found=graph.find_node(hop.found).name,
            stated=graph.find_passage(hop.passage),
        )
        for number, arm in enumerate(subgraph.arms)
        for hop in arm.hops
    )


def measure_difficulty(
    entities: Sequence[RowEntity], answer: RowEntity, hops: int, searches: Sequence[HopSearch]
) -> MeasuredDifficulty:
    """Return the level that the hops give, one higher where two signs of a hard search are there."""
    on_path = [*entities, answer]
    categories = len(Counter(entity.category for entity in on_path))
    ambiguity = max(entity.ambiguity for entity in on_path)
    signs = (ambiguity > 1) + (answer.passages <= SPARSE) + (categories >= MANY_CATEGORIES)
    level = (hops > EASY_HOPS) + (hops > MEDIUM_HOPS) + (signs >= SIGNS_FOR_HARDER)
    return MeasuredDifficulty(
        level=list(Difficulty)[min(level, 2)],
        hops=hops,
        categories=categories,
        ambiguity=ambiguity,
        answer_passages=answer.passages,
        worst_rank=max((search.rank for search in searches), default=0),
    )


def count_row(row: GraphQueryRow) -> dict[str, float]:
    """Return the numbers of a row for the set's report."""
    return {
        "hops": row.hops,
        "level": list(Difficulty).index(row.difficulty.level) + 1,
        "arms": len(row.starts),
        "conditions": len(row.conditions),
        "steps": sum(step.kept for step in row.steps),
        "entities": len(row.entities),
        "ambiguity": row.difficulty.ambiguity,
        "answer_passages": row.difficulty.answer_passages,
        "worst_rank": row.difficulty.worst_rank,
        "coherence": row.coherence,
    }
