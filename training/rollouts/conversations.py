"""The conversations of one rollout as token ids: which of them a request continues."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from app.domain.chat import ChatRole, Message
from training.rollouts.chat_template import ChatTemplate

Spoken: TypeAlias = tuple[tuple[str, str], ...]
"""A conversation's messages as a server would see them: roles and contents."""


@dataclass
class Chain:
    """A named sequence of ids that only grows."""

    name: str
    ids: list[int] = field(default_factory=list)


@dataclass
class AnsweredConversation:
    """A conversation up to an answer of the policy: the first `length` ids of a chain. It is continued once at most."""

    chain: Chain
    length: int
    continued: bool = False


@dataclass(frozen=True, slots=True)
class Prompt:
    """A request as ids: the first `carried` of them are those of the chain, the others are new."""

    spoken: Spoken
    chain: Chain
    carried: int
    ids: tuple[int, ...]
    continues: AnsweredConversation | None

    @property
    def new_ids(self) -> tuple[int, ...]:
        """The ids that no turn before has shown in this chain."""
        return self.ids[self.carried :]


class Conversations:
    """What was sampled so far. `open_prompt`, then either `keep_answer` or `drop_prompt`."""

    def __init__(self, template: ChatTemplate) -> None:
        self._template = template
        self._answered: defaultdict[Spoken, list[AnsweredConversation]] = defaultdict(list)
        self._chains = 0

    def open_prompt(self, messages: Sequence[Message]) -> Prompt:
        """Return a request's ids. It continues the longest conversation with which its messages begin.

        Where another request has already continued that conversation, a new chain begins with the same ids.
        """
        spoken = tuple((m.role.value, m.content) for m in messages)
        for length in range(len(messages) - 1, 0, -1):
            known = self._answered.get(spoken[:length])
            if known:
                new = self._template.encode_following(messages[length:])
                return self._continue(known, spoken, new)
        return Prompt(spoken, self._begin_chain(), 0, self._template.encode_opening(messages), None)

    def keep_answer(self, prompt: Prompt, text: str, ids: Sequence[int]) -> None:
        """Keep the policy's answer, so that it can be continued."""
        prompt.chain.ids += (*prompt.new_ids, *ids)
        spoken = (*prompt.spoken, (ChatRole.ASSISTANT.value, text))
        self._answered[spoken].append(AnsweredConversation(prompt.chain, len(prompt.chain.ids)))

    def drop_prompt(self, prompt: Prompt) -> None:
        """Forget a prompt that got no answer; what it continued may be continued by another."""
        if prompt.continues is not None:
            prompt.continues.continued = False

    def _continue(self, known: list[AnsweredConversation], spoken: Spoken, new: tuple[int, ...]) -> Prompt:
        free = next((one for one in known if not one.continued), None)
        before = free or known[-1]
        ids = before.chain.ids[: before.length]
        between = new[1:] if new[:1] == tuple(ids[-1:]) else new  # the policy has itself sampled the end of its turn
        if free is None:
            return Prompt(spoken, self._begin_chain(), 0, (*ids, *between), None)
        free.continued = True
        return Prompt(spoken, free.chain, free.length, (*ids, *between), free)

    def _begin_chain(self) -> Chain:
        self._chains += 1
        return Chain(f"c{self._chains}")
