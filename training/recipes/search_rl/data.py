"""The tasks of Search-RL: the questions of sets of graph queries, with their key entities, answer and difficulty (MindDR 4.5)."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from pydantic import BaseModel

from app.domain.query import Language
from app.domain.split import Split
from training.recipes.training_data import read_rows
from training.rewards.entities import Entity
from training.rollouts.nouns import Task
from training.synthesis.graph_queries.row import Difficulty


class NamedThing(BaseModel):
    """An entity with its other names."""

    name: str
    aliases: tuple[str, ...] = ()

    @property
    def entity(self) -> Entity:
        """The entity as the reward matches it."""
        return Entity(self.name, self.aliases)


class Level(BaseModel):
    """The difficulty of a question."""

    level: Difficulty


class GraphQueryLine(BaseModel):
    """What is read of a row."""

    id: str
    query: str
    language: Language
    entities: tuple[NamedThing, ...]
    answer: NamedThing
    difficulty: Level


@dataclass(frozen=True, slots=True)
class SearchGoal:
    """What a search is rewarded for: the entities it meets, and the answer."""

    entities: tuple[Entity, ...]
    answer: Entity


TasksByLevel: TypeAlias = Mapping[Difficulty, Sequence[Task[SearchGoal]]]
FORMS = {"graph-queries": GraphQueryLine}


def read_tasks(sets: Sequence[Path], split: Split) -> Mapping[Difficulty, list[Task[SearchGoal]]]:
    """Read a split's tasks by their difficulty.

    Raises:
        InvalidInput: the sets cannot be used.
    """
    found: dict[Difficulty, list[Task[SearchGoal]]] = defaultdict(list)
    for row in read_rows(sets, FORMS, split):
        entities = tuple(dict.fromkeys(each.entity for each in row.entities))
        goal = SearchGoal(entities, row.answer.entity)
        found[row.difficulty.level].append(Task(row.id, row.query, row.language, goal))
    return found
