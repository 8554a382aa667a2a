"""Conversations made of turns: which answers are trained, where one ends, and how it is made longer."""

from collections import Counter

import pytest

from app.domain.chat import ChatRole, Completion, Message
from app.domain.query import Language
from app.domain.trajectory import Trajectory, Turn, TurnKind
from training.synthesis.trajectories.conversations import TrainedConversation, TrainedMessage, list_conversations
from training.synthesis.trajectories.lengthening import SHARES, count_tokens, draw_length, find_reached_length, lengthen


def turn(ordinal: int, said: str, carried: int, *messages: Message, finish: str = "stop") -> Turn:
    completion = Completion(text=said, model="m", finish_reason=finish)
    return Turn(
        agent="search/s1",
        ordinal=ordinal,
        kind=TurnKind.MODEL,
        step="act",
        digest="",
        carried=carried,
        messages=messages,
        completion=completion,
    )


def test_an_answer_that_was_refused_is_shown_and_not_trained() -> None:
    ask, wrong = Message(role=ChatRole.USER, content="Search."), Message(role=ChatRole.ASSISTANT, content="er")
    correction = Message(role=ChatRole.USER, content="Your answer could not be used: no JSON")
    turns = (turn(0, "er", 0, ask), turn(1, "{}", 1, wrong, correction))
    found = list_conversations(Trajectory(episode="e", turns=turns), ["Your answer could not be used"])
    assert [(m.content, m.trained) for m in found[0].messages] == [
        ("Search.", False),
        ("er", False),
        (correction.content, False),
        ("{}", True),
    ]


def test_an_answer_that_was_asked_for_again_with_the_same_words_is_replaced() -> None:
    ask, did = Message(role=ChatRole.USER, content="Search."), Message(role=ChatRole.ASSISTANT, content="whole")
    seen = Message(role=ChatRole.USER, content="found")
    turns = (turn(0, "cut o", 0, ask, finish="length"), turn(1, "anew", 1), turn(2, "whole", 1), turn(3, "end", 1, did, seen))
    found = list_conversations(Trajectory(episode="e", turns=turns))
    assert [each.steps for each in found] == [("act", "act")]
    assert [(m.content, m.trained) for m in found[0].messages] == [
        ("Search.", False),
        ("whole", True),
        ("found", False),
        ("end", True),
    ]


@pytest.mark.parametrize("finish", ["length", "loop"])
def test_an_answer_that_was_cut_off_is_not_trained(finish: str) -> None:
    ask, did = Message(role=ChatRole.USER, content="Search."), Message(role=ChatRole.ASSISTANT, content="a")
    seen = Message(role=ChatRole.USER, content="found")
    turns = (turn(0, "a", 0, ask), turn(1, "cut o", 1, did, seen, finish=finish))
    found = list_conversations(Trajectory(episode="e", turns=turns))
    assert [m.content for each in found for m in each.messages if m.trained] == ["a"]
    assert not list_conversations(Trajectory(episode="e", turns=(turn(0, "cut o", 0, ask, finish=finish),)))


def test_a_history_that_was_shortened_begins_another_conversation() -> None:
    ask, did, short = (
        Message(role=r, content=c)
        for r, c in ((ChatRole.USER, "Search."), (ChatRole.ASSISTANT, "a"), (ChatRole.USER, "(removed)"))
    )
    seen = Message(role=ChatRole.USER, content="found")
    turns = (turn(0, "a", 0, ask), turn(1, "b", 1, did, seen), turn(2, "c", 2, short, did, seen))
    found = list_conversations(Trajectory(episode="e", turns=turns))
    assert [[m.content for m in each.messages if m.trained] for each in found] == [["a", "b"], ["c"]]


def test_long_contexts_repeat_what_was_observed_and_nothing_that_was_said() -> None:
    told = [
        ("question", False),
        ("search one", True),
        ("found one " * 200, False),
        ("search two", True),
        ("found two " * 200, False),
    ]
    roles = [ChatRole.ASSISTANT if trained else ChatRole.USER for _, trained in told]
    messages = tuple(TrainedMessage(role=r, content=c, trained=t) for r, (c, t) in zip(roles, told, strict=True))
    short = TrainedConversation(agent="search/s1", steps=("act", "act"), messages=(*messages, messages[1]))
    long = lengthen(short, 32_768, Language.ENGLISH)
    assert 31_000 <= count_tokens(long) <= 34_000
    assert [m for m in long.messages if m.trained] == [m for m in short.messages if m.trained]
    assert long.messages[0] == short.messages[0]
    assert lengthen(short, 10, Language.ENGLISH) == short
    drawn = Counter(draw_length(str(n)) for n in range(4_000))
    assert all(abs(drawn[length] / 4_000 - share) < 0.03 for length, share in SHARES.items())


@pytest.mark.parametrize(("words", "reached"), [(10, 0), (20_000, 0), (27_000, 32_768), (54_000, 65_536), (120_000, 131_072)])
def test_a_conversation_counts_as_long_as_it_is_whatever_was_wished(words: int, reached: int) -> None:
    told = TrainedMessage(role=ChatRole.USER, content="word " * words)
    long = TrainedConversation(agent="search/s1", steps=("act",), messages=(told,))
    short = long.model_copy(update={"messages": (told.model_copy(update={"content": "w"}),)})
    assert find_reached_length([short, lengthen(long, 131_072, Language.ENGLISH)]) == reached
