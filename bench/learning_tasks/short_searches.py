"""Short searches on a tape, a teacher that works them and sometimes forgets its form, and who counts what a policy does of them.

A question asks how long something in a port is; one search finds a passage that says it. The teacher thinks and calls, then
thinks and answers, in tags. At random it says the same without them: the agent refuses that and asks again.
"""

import json
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from app.domain.chat import ChatRequest, ToolCall, ToolResult
from app.domain.evidence import Passage, Source, snapshot_hash
from retrieval.tape import Tape

PLACES = ("Ashford", "Brindle", "Corwen", "Dunmore", "Elsmere", "Farley", "Garston", "Hadley", "Ilford", "Kirby")
THINGS = ("pier", "quay", "wall", "canal", "bridge", "dock", "ramp", "mole")
LENGTHS = tuple(range(110, 190, 4))
HELD_OUT = 20
"""So many of the 80 pairs of place and thing are in no search that a policy learns from."""
FORGETS = 0.3
TAGS = ("<think>", "</think>", "<tool_call>", "</tool_call>", "<answer>", "</answer>")
THOUGHT, KNOWN, REFUSED = "I look for it: ", "It is told.", "That answer cannot be used"
_CALL = re.compile(r"<think>[^<>]+</think>\s*<tool_call>(\{[^<>]*\})</tool_call>")
_ANSWER = re.compile(r'<think>[^<>]+</think>\s*<answer><cite id="p\d+">([^<>]+)</cite></answer>')


@dataclass(frozen=True, slots=True)
class LengthQuestion:
    """A question for the length of a thing, and the length."""

    place: str
    thing: str
    length: int

    @property
    def text(self) -> str:
        """The question."""
        return f"How long is the {self.thing} of {self.place}?"

    @property
    def query(self) -> str:
        """The search that finds it."""
        return f"{self.place} {self.thing}"

    @property
    def said(self) -> str:
        """What a passage says of it."""
        return f"The {self.thing} of {self.place} is {self.length} feet long."


def split_questions(seed: int) -> tuple[list[LengthQuestion], list[LengthQuestion]]:
    """Return the questions to learn from, and those that are held out."""
    chance = random.Random(seed)
    found = [LengthQuestion(place, thing, chance.choice(LENGTHS)) for place, thing in product(PLACES, THINGS)]
    chance.shuffle(found)
    return found[HELD_OUT:], found[:HELD_OUT]


def record_searches(questions: Sequence[LengthQuestion]) -> Tape:
    """Record what the search of each question finds."""
    tape = Tape()
    for asked in questions:
        source = Source(url=f"doc:{asked.place}", title=asked.place, snapshot=snapshot_hash(asked.said))
        found = ToolResult(passages=(Passage(source=source, text=asked.said, start=0, end=len(asked.said)),))
        tape.record(ToolCall(name="search", arguments={"query": asked.query}), found)
    return tape


@dataclass(frozen=True, slots=True)
class ForgetfulTeacher:
    """A model that works one question, and forgets its tags at random, but not when it is asked again."""

    asked: LengthQuestion
    chance: random.Random

    def answer(self, request: ChatRequest) -> str:
        """Return the next turn."""
        seen = any(self.asked.said in message.content for message in request.messages)
        was_refused = request.messages[-1].content.startswith(REFUSED)
        if self.chance.random() < FORGETS and not was_refused:
            return self.asked.said if seen else f"{THOUGHT}{self.asked.query}"
        return write_answer(self.asked) if seen else write_call(self.asked)


def write_call(asked: LengthQuestion) -> str:
    """Write the first turn as it should be."""
    call = json.dumps({"name": "search", "arguments": {"query": asked.query}})
    return f"<think>{THOUGHT}{asked.query}</think><tool_call>{call}</tool_call>"


def write_answer(asked: LengthQuestion) -> str:
    """Write the last turn as it should be."""
    return f'<think>{KNOWN}</think><answer><cite id="p1">{asked.said}</cite></answer>'


def list_phrases(messages: Sequence[str]) -> list[str]:
    """Return the phrases of conversations: a policy with a token for each learns in minutes."""
    words = [*PLACES, *THINGS, *map(str, LENGTHS), *TAGS]
    any_word = re.compile("|".join(re.escape(each) for each in sorted(words, key=len, reverse=True)))
    pieces = dict.fromkeys(piece for said in messages for piece in any_word.split(said) if len(piece) > 1)
    return ["system\n", "user\n", "assistant\n", *words, *pieces]


def rate_search(outputs: Sequence[str], asked: LengthQuestion) -> dict[str, float]:
    """Return the score of a rollout's outputs, from 0 to 1: how much is in form, of one that answers rightly.

    `form` is the share of outputs in form, `called` that of the calls that search for this question alone, `right` says whether
    the one answer is right. The score is the product. Whole outputs are read by patterns of their own.
    """
    calls = [found[1] for text in outputs if (found := _CALL.fullmatch(text))]
    answers = [found[1] for text in outputs if (found := _ANSWER.fullmatch(text))]
    form = (len(calls) + len(answers)) / max(1, len(outputs))
    called = sum(read_query(call) == asked.query for call in calls) / max(1, len(calls))
    right = float(answers == [asked.said])
    return {"score": form * called * right, "form": form, "called": called, "right": right}


def read_query(call: str) -> object:
    """Return what a call asks for; None of what is no call."""
    try:
        return json.loads(call)["arguments"]["query"]
    except (ValueError, KeyError, TypeError):
        return None


def probe_outputs(outputs: Sequence[str]) -> dict[str, float]:
    """Measure what form alone may lead to: turns (in tens), words (in hundreds), and outputs that repeat one before."""
    words = [word for text in outputs for word in re.findall(r"[A-Za-z]+", text)]
    return {"turns": len(outputs) / 10, "length": len(words) / 100, "echo": len(outputs) - len(set(outputs))}
