"""The training rows of a rollout: the chains of its sampled tokens.

An agent's turns are a tree, not a line: a repaired answer, the closing question, the turn that ends a search and each step of
MaMs begin anew. Which turns belong together was decided when they were sampled (`sampler`), so nothing is tokenised here.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from app.domain.chat import SampledTokens
from app.domain.trajectory import Trajectory
from training.rollouts.nouns import TrainingRow

NOT_SAMPLED, NO_TURN = 0.0, -1


class BrokenChain(ValueError):
    """The stored token ids do not fit together. They were not written by one sampler for one rollout."""


@dataclass
class _Chain:
    """A chain under construction. The four lists have one entry a token."""

    agent: str
    policy_version: int
    ids: list[int] = field(default_factory=list)
    sampled: list[bool] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    turns: list[int] = field(default_factory=list)

    def add_turn(self, tokens: SampledTokens, turn: int) -> None:
        """Add what the policy observed, then what it sampled."""
        seen, said = len(tokens.prompt_ids), len(tokens.completion_ids)
        if said != len(tokens.logprobs):
            raise BrokenChain(f"turn {turn} has {said} sampled ids and {len(tokens.logprobs)} log-probabilities")
        if said and not self.ids and not seen:
            raise BrokenChain(f"turn {turn} has no prompt")
        self.ids += (*tokens.prompt_ids, *tokens.completion_ids)
        self.sampled += [False] * seen + [True] * said
        self.logprobs += [NOT_SAMPLED] * seen + list(tokens.logprobs)
        self.turns += [NO_TURN] * seen + [turn] * said
        self.policy_version = min(self.policy_version, tokens.policy_version)

    def make_row(self) -> TrainingRow:
        """Return the finished row."""
        return TrainingRow(
            agent=self.agent,
            ids=tuple(self.ids),
            sampled=tuple(self.sampled),
            logprobs=tuple(self.logprobs),
            turns=tuple(self.turns),
            policy_version=self.policy_version,
        )


def make_rows(trajectory: Trajectory) -> tuple[TrainingRow, ...]:
    """Return a rollout's rows, in the order of their first turns. They hold every sampled id exactly once.

    Turns of other models, which keep no token ids, have no rows; nor has a rollout that failed before its first token.

    Raises:
        BrokenChain: a turn carries ids of a chain that does not have so many, or its log-probabilities do not fit its ids.
    """
    chains: list[_Chain] = []
    latest: dict[str, _Chain] = {}
    for turn, agent, tokens in _list_sampled(trajectory):
        if not tokens.carried:
            latest[tokens.conversation] = _Chain(agent, tokens.policy_version)
            chains.append(latest[tokens.conversation])
        chain = latest.get(tokens.conversation)
        if chain is None or len(chain.ids) != tokens.carried:
            has = "none" if chain is None else len(chain.ids)
            raise BrokenChain(f"turn {turn} carries {tokens.carried} ids of chain {tokens.conversation!r}, which has {has}")
        chain.add_turn(tokens, turn)
    return tuple(chain.make_row() for chain in chains if any(chain.sampled))


def _list_sampled(trajectory: Trajectory) -> Iterator[tuple[int, str, SampledTokens]]:
    """Yield each turn's position, agent and tokens."""
    for position, turn in enumerate(trajectory.turns):
        if turn.completion is not None and turn.completion.sampled is not None:
            yield position, turn.agent, turn.completion.sampled
