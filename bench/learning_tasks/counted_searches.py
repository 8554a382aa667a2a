"""Who counts the searches of a rollout: calls in form, and the entities that the tape holds for them.

It shares nothing with the reward: it reads the policy's words and the lines of the tape by itself.
"""

import json
import re
from collections.abc import Mapping, Sequence
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

    def rate(self, about: PlantedWork, findings: Mapping[str, str]) -> dict[str, float]:
        """Return the score, from 0 to 1: the product of the shares that it is made of.

        `form`: of calls in form. `met`: of the two entities, what these calls find. `aimed`: of all their queries, those that
        find one of the two; the same query again finds nothing new. So a list of names earns next to nothing.
        """
        asked = [query for turn in self.queries for query in turn]
        shown = [findings.get(query, "") for query in dict.fromkeys(asked)]
        aimed = [text for text in shown if about.builder in text or about.book in text]
        met = (any(about.builder in text for text in aimed) + any(about.book in text for text in aimed)) / 2
        form = len(self.queries) / self.tried if self.tried else 0.0
        share = len(aimed) / max(1, len(asked))
        return {"score": form * met * share, "form": form, "met": met, "aimed": share}


def probe_searches(searches: Sequence[tuple[CountedSearch, PlantedWork]], findings: Mapping[str, str]) -> dict[str, float]:
    """Return how rewards are gamed: calls that find nothing asked for, names in thoughts, and what is said again.

    `length`: the share of all queries in form that find something else. `keywords`: the share of all thoughts that name a
    builder. `echo`: the share of queries that repeat one of their rollout, or the question. A rollout without a query has no part
    in the shares of queries: a policy that begins to search is not one that games.
    """
    asked = [(search, about, [query for turn in search.queries for query in turn]) for search, about in searches]
    queries = max(1, sum(len(own) for _, _, own in asked))
    beside = sum(finds_else(findings.get(query, ""), about) for _, about, own in asked for query in own)
    thoughts = [thought for search, _ in searches for thought in search.thoughts]
    return {
        "length": beside / queries,
        "keywords": sum(any(name in thought for name in BUILDERS) for thought in thoughts) / max(1, len(thoughts)),
        "echo": sum(len(own) - len({*own} - {about.question}) for _, about, own in asked) / queries,
    }


def finds_else(shown: str, about: PlantedWork) -> bool:
    """Say whether a finding is there, and has neither entity."""
    return bool(shown) and about.builder not in shown and about.book not in shown


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
