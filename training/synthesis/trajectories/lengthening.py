"""Longer contexts from the same trajectories (MindDR 4.4): 30 % at 32K or 64K tokens, 15 % at 128K, the rest as they are.

A conversation is resampled with redundant observations: after each observation, reviews of earlier ones stand until the wanted
length is reached. What the policy said stays as it was. The paper names history reviews and summaries; where they stand is ours.
"""

import hashlib
from collections.abc import Mapping, Sequence
from itertools import cycle

from app.domain.chat import ChatRole
from app.domain.query import Language
from training.synthesis.trajectories.conversations import TrainedConversation, TrainedMessage
from workflows.chat_models.estimating import estimate_tokens

BASE = 0
HEADINGS = {Language.ENGLISH: "For review, what was found earlier:", Language.CHINESE: "以下是此前所得，供回顾："}
SHARES: Mapping[int, float] = {32_768: 0.15, 65_536: 0.15, 131_072: 0.15, BASE: 0.55}
REACHED = 0.8
"""A conversation that fills so much of a length counts as that long."""


def draw_length(name: str) -> int:
    """Draw the wanted length of a trajectory in tokens, by a hash of its id; 0: as it is."""
    drawn = int.from_bytes(hashlib.sha256(f"length {name}".encode()).digest()[:8]) / 2**64
    for length, share in SHARES.items():
        drawn -= share
        if drawn < 0:
            return length
    return BASE


def lengthen(conversation: TrainedConversation, tokens: int, language: Language) -> TrainedConversation:
    """Return the conversation with reviews of its observations, as near to `tokens` as whole reviews allow, and not above.

    A conversation without two observations stays as it is, because it has nothing to review.
    """
    seen = [place for place, message in enumerate(conversation.messages) if place and message.role is ChatRole.USER]
    reviews = _plan_reviews(conversation.messages, seen, tokens - count_tokens(conversation)) if len(seen) > 1 else {}
    messages = [_add_reviews(message, reviews.get(place, ()), language) for place, message in enumerate(conversation.messages)]
    return conversation.model_copy(update={"messages": tuple(messages)})


def find_reached_length(conversations: Sequence[TrainedConversation]) -> int:
    """Return the greatest of the lengths that the longest conversation reaches; 0: none."""
    longest = max(map(count_tokens, conversations), default=0)
    return max((length for length in SHARES if longest >= REACHED * length), default=BASE)


def count_tokens(conversation: TrainedConversation) -> int:
    """Estimate the tokens of all messages."""
    return sum(estimate_tokens(message.content) for message in conversation.messages)


def _plan_reviews(messages: Sequence[TrainedMessage], seen: Sequence[int], room: int) -> dict[int, list[str]]:
    """Return the reviewed texts by the place of the observation behind which they stand: each has earlier ones, in turn."""
    planned: dict[int, list[str]] = {}
    pairs = [(later, earlier) for number, later in enumerate(seen) for earlier in seen[:number]]
    for later, earlier in cycle(pairs):
        text = messages[earlier].content
        room -= estimate_tokens(text)
        if room < 0:
            break
        planned.setdefault(later, []).append(text)
    return planned


def _add_reviews(message: TrainedMessage, reviews: Sequence[str], language: Language) -> TrainedMessage:
    if not reviews:
        return message
    heading = HEADINGS[language]
    return message.model_copy(update={"content": "\n\n".join([message.content, *(f"{heading}\n{text}" for text in reviews)])})
