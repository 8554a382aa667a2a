"""The turns a record starts with: which of them answers a request, and what a request adds to the one before it."""

from collections import Counter, defaultdict
from collections.abc import Iterable

from app.domain.chat import ChatRequest, Message
from app.domain.trajectory import RequestDigests, Turn


class StoredTurns:
    """Turns by agent and ordinal. They answer an agent only while it makes the same requests as when they were stored."""

    def __init__(self, turns: Iterable[Turn]) -> None:
        self._stored = {(turn.agent, turn.ordinal): turn for turn in turns}
        self._next: Counter[str] = Counter()
        self._said: dict[str, tuple[Message, ...]] = {}
        self._digests: defaultdict[str, RequestDigests] = defaultdict(RequestDigests)

    @property
    def all(self) -> Iterable[Turn]:
        """The turns that still answer."""
        return self._stored.values()

    def read_elapsed_s(self) -> float:
        """Return the stage's time at the end of the latest turn, in seconds."""
        return max((turn.elapsed_s for turn in self._stored.values()), default=0.0)

    def claim_ordinal(self, agent: str) -> int:
        """Return the ordinal of this agent's next turn. It is fixed at the call, so that concurrent calls keep their order."""
        self._next[agent] += 1
        return self._next[agent] - 1

    def claim_unused(self, agent: str) -> int:
        """Return the ordinal of a turn of this agent that is never made again: the first after all that are stored."""
        while self.has_next(agent):
            self.claim_ordinal(agent)
        return self.claim_ordinal(agent)

    def has_next(self, agent: str) -> bool:
        """Say whether the agent's next turn is stored."""
        return (agent, self._next[agent]) in self._stored

    def find_answer(self, agent: str, ordinal: int, digest: str) -> Turn | None:
        """Return the stored turn if it answers exactly this request. Otherwise forget it and all turns after it."""
        stored = self._stored.get((agent, ordinal))
        if stored is None or stored.digest == digest:
            return stored
        for key in [k for k in self._stored if k[0] == agent and k[1] >= ordinal]:
            del self._stored[key]
        return None

    def digest_request(self, agent: str, request: ChatRequest, model: str, carried: int) -> str:
        """Return the digest of the agent's request, which begins with `carried` messages of its last one."""
        return self._digests[agent].of(request, model, carried)

    def count_carried(self, agent: str, messages: tuple[Message, ...]) -> tuple[int, int]:
        """Return how many messages the agent's last request had, and how many of them this request begins with."""
        before = self._said.get(agent, ())
        self._said[agent] = messages
        same = 0
        for old, new in zip(before, messages, strict=False):
            if old is not new and old != new:
                break
            same += 1
        return len(before), same

    def forget_messages(self, agent: str) -> None:
        """Forget the agent's last request, which was not stored: the next one carries nothing of it."""
        self._said.pop(agent, None)
