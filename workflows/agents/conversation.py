"""A conversation of limited length: the oldest observations shrink first, the opening never does."""

from collections.abc import Sequence

from app.domain.chat import ChatRole, Message
from app.domain.query import Language
from workflows.agents.passage_ids import list_snippets
from workflows.agents.wording import say


class Conversation:
    """Messages in order. Earlier messages stay the same objects, so that a record finds the new ones at little cost.

    `chars` is the length beyond which it is shortened; None: it never is.
    """

    def __init__(self, opening: Sequence[Message], chars: int | None, language: Language) -> None:
        self._messages = list(opening)
        self._opening = len(self._messages)
        self._most = chars
        self._language = language
        self._chars = sum(len(m.content) for m in self._messages)

    @property
    def messages(self) -> tuple[Message, ...]:
        """The current messages."""
        return tuple(self._messages)

    def add_turn(self, message: Message) -> None:
        """Add the model's turn."""
        self._messages.append(message)
        self._chars += len(message.content)

    def add_observation(self, observation: Message, remark: str = "") -> None:
        """Add an observation with our own remark below it. When the conversation is too long, shorten old observations."""
        if remark:
            observation = observation.model_copy(update={"content": f"{observation.content}\n{remark}"})
        self.add_turn(observation)
        if self._most is not None and self._chars > self._most:
            self._shrink(self._most * 2 // 3)

    def _shrink(self, wanted: int) -> None:
        """Shorten the conversation to two thirds at once, because every change makes servers read it anew."""
        for i in range(self._opening, len(self._messages) - 1):
            if self._chars <= wanted:
                return
            old = self._messages[i]
            if old.role is ChatRole.USER:
                brief = say("old_observation", self._language, ids=", ".join(list_snippets(old.content)) or "-")
                self._messages[i] = Message(role=ChatRole.USER, content=brief)
                self._chars -= len(old.content) - len(brief)
