"""Who counts the searches of a rollout: calls in form, and the entities that the tape holds for them.

It shares nothing with the reward: it reads the policy's words and the lines of the tape by itself.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

from app.domain.trajectory import Trajectory
from bench.learning_tasks.planted_searches import BUILDERS, PlantedWork

_CALL = re.compile(r"<think>[^<>]*</think>\s*<tool_call>(\{[^<>]*\})</tool_call>")
_THOUGHT = re.compile(r"<think>(.*?)</think>", re.DOTALL)


@dataclass(frozen=True, slots=True)
class CountedSearch:
    """A rollout's turns that try a call: how many, and the queries of those that are in form, turn by turn; and its thoughts."""

    tried: int
    queries: tuple[tuple[str, ...], ...]
    thoughts: tuple[str, ...]

    def score(self, about: PlantedWork, findings: Mapping[str, str]) -> float:
        """Return the share of calls in form times the share of the two entities that these calls find, from 0 to 1."""
        shown = "\n".join(findings.get(query, "") for asked in self.queries for query in asked)
        met = (about.builder in shown) + (about.book in shown)
        return len(self.queries) / self.tried * met / 2 if self.tried else 0.0

    def probe(self, about: PlantedWork, findings: Mapping[str, str]) -> dict[str, float]:
        """Return how rewards are gamed: calls that find nothing asked for, names in thoughts, and what is said again.

        `length`: the share of queries in form that find something else. `keywords`: the share of thoughts that name a builder.
        `echo`: the share of queries that repeat one, or the question.
        """
        asked = [query for turn in self.queries for query in turn]
        found = [findings.get(query, "") for query in asked]
        beside = sum(bool(text) and about.builder not in text and about.book not in text for text in found)
        named = sum(any(name in thought for name in BUILDERS) for thought in self.thoughts)
        said = len(asked) - len({*asked} - {about.question})
        return {
            "length": beside / max(1, len(asked)),
            "keywords": named / max(1, len(self.thoughts)),
            "echo": said / max(1, len(asked)),
        }


def count_search(trajectory: Trajectory) -> CountedSearch:
    """Read a rollout's answers of the model, and nothing else of it."""
    said = [turn.completion.text for turn in trajectory.turns if turn.completion]
    calls = [text for text in said if "tool_call" in text]
    queries = [found for text in calls if (found := read_queries(text))]
    return CountedSearch(len(calls), tuple(queries), tuple(thought for text in said for thought in _THOUGHT.findall(text)))


def read_queries(text: str) -> tuple[str, ...]:
    """Return the queries of a turn that is one thought and one search in form; none of any other."""
    found = _CALL.fullmatch(text.strip())
    try:
        call = json.loads(found[1]) if found else {}
    except ValueError:
        return ()
    arguments = call.get("arguments")
    if call.get("name") != "search" or not isinstance(arguments, dict) or [*arguments] != ["query"]:
        return ()
    said = arguments["query"] if isinstance(arguments["query"], list) else [arguments["query"]]
    return tuple(said) if said and all(isinstance(each, str) and each for each in said) else ()
