"""The passages behind the short ids that an agent cites, read from its stored turns.

Ids are given when an observation is put together, after the tool turns are stored: so they stand with the message that shows them
(`Message.shown`), and the passages with the tool turns, each once.
"""

from app.domain.evidence import Passage
from app.domain.trajectory import Trajectory


def store_of(trajectory: Trajectory, agent: str) -> dict[str, Passage]:
    """Return the passages that one agent of a trajectory was shown, by the ids under which it saw them.

    ReAct's agent reads digests: it was shown what they cite. The digest agent, and the three agents of MaMs, are agents too.
    """
    results = (turn.result for turn in trajectory.turns if turn.result is not None)
    found = {passage.key: passage for result in results for passage in result.passages}
    asked = (message for turn in trajectory.turns if turn.agent == agent for message in turn.messages)
    return {shown.id: found[shown.key] for message in asked for shown in message.shown if shown.key in found}
