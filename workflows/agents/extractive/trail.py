"""Following chains of evidence through searches, and the score each passage earns on the way."""

from collections.abc import Iterable

from workflows.agents.extractive.chains import bridges, chained_score, direct_score, open_terms
from workflows.agents.extractive.entities import Entities
from workflows.agents.extractive.gathering import Gathering
from workflows.agents.extractive.hits import Hit
from workflows.agents.extractive.names import names_topic
from workflows.agents.extractive.question import Question

BRIDGES = 5
NEXT_PASSAGES = 4
UNRANKED = 99


class Trail:
    """The passages of one search, each with its score for the question: directly, or as the next link of a chain.

    `came` says for each passage that continues a chain from which passage, and by which name (as terms).
    """

    def __init__(self, question: Question, gathering: Gathering) -> None:
        self._question = question
        self._gathering = gathering
        self._entities = Entities(question)
        self._direct: dict[str, float] = {}
        self.hits: dict[str, Hit] = {}
        self.scores: dict[str, float] = {}
        self.came: dict[str, tuple[str, str]] = {}

    def begin(self, found: list[Hit], ranked: bool) -> None:
        """Take in passages found directly; `ranked` when their order answers the question itself."""
        self._entities.learn(found)
        for rank, hit in enumerate(found):
            score = direct_score(self._question, self._entities, hit, rank if ranked else UNRANKED)
            self.hits[hit.key] = hit
            self._direct[hit.key] = max(score, self._direct.get(hit.key, 0.0))
            self.scores[hit.key] = max(score, self.scores.get(hit.key, 0.0))

    def names_kept(self, keys: Iterable[str]) -> dict[str, set[str]]:
        """For each of these passages the names by which it is tied to another of them: what a quotation of it should hold."""
        tied: dict[str, set[str]] = {key: set() for key in keys}
        for key in tied:
            parent, name = self.came.get(key, ("", ""))
            if parent in tied:
                tied[key].add(name)
                tied[parent].add(name)
        return tied

    def reached(self, key: str) -> bool:
        """Whether a chain led to a passage on one topic, or the question names what it is about: then any sentence may answer."""
        return names_topic(self.hits[key].passage.source) and (key in self.came or self._entities.named(self.hits[key]))

    def mentions(self, key: str) -> bool:
        """Whether a passage holds a telling word of one of the question's names; any passage does where it has none."""
        return self._entities.mentioned(self.hits[key])

    def left_open(self, key: str) -> dict[str, float]:
        """The question's terms, with weights, that the passage before this one in its chain leaves open."""
        parent, _ = self.came.get(key, ("", ""))
        return open_terms(self._question, self.hits[parent]) if parent else {}

    def best(self, keys: set[str], count: int) -> list[str]:
        """The best-scored of these passages."""
        return sorted(keys, key=lambda key: (-self.scores[key], key))[:count]

    def _line(self, key: str) -> set[str]:
        """A passage and those that led to it: a chain does not come back to them."""
        line = {key}
        while key in self.came and self.came[key][0] not in line:
            key = self.came[key][0]
            line.add(key)
        return line

    async def follow(self, keys: list[str]) -> set[str]:
        """Search on from these passages by the names they lead to; returns the passages that continue a chain."""
        earned: dict[str, float] = {}
        for key in keys:
            parent = self.hits[key]
            for bridge in bridges(self._question, parent, BRIDGES):
                for rank, hit in enumerate(await self._gathering.look(bridge.query, NEXT_PASSAGES, ("search",))):
                    score = chained_score(self._question, parent, self.scores[key], bridge, hit, rank)
                    if score and hit.key not in self._line(key):
                        self.hits[hit.key] = hit
                        if score > earned.get(hit.key, 0.0):
                            earned[hit.key] = score
                            self.came[hit.key] = (key, bridge.terms)
        for key, score in earned.items():
            self.scores[key] = max(self.scores.get(key, 0.0), self._direct.get(key, 0.0) + score)
        return set(earned)
