"""A small world to search: who built what in which port, and which book each builder wrote; and a searcher who errs by chance.

A question wants two searches: the work names its builder, and the builder, by name alone, the book. Calls are on a tape. The
searcher of the mix asks for the right thing or another, in form or out of it, and stops when it is done or before.
"""

import json
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path

from app.domain.chat import ChatRequest, ChatRole, ToolCall, ToolResult
from app.domain.evidence import Passage, Source, snapshot_hash
from retrieval.tape import Tape

PLACES = ("Ashford", "Brindle", "Corwen", "Dunmore", "Elsmere", "Farley", "Garston", "Hadley", "Ilford", "Kirby")
WORKS = ("pier", "harbour", "market", "bridge", "tower", "mill", "school", "canal")
BUILDERS = (
    *("Ada Moss", "Ben Thorne", "Cora Vale", "Dan Wick", "Eva Lorne", "Finn Oakes", "Gwen Pike", "Hal Quill"),
    *("Ida Rowe", "Jon Sedge", "Kit Tarn", "Lena Udall", "Max Vane", "Nell Wray", "Otto Yarrow", "Pia Zeal"),
)
BOOKS = (
    *("Tides and Stones", "The Long Quay", "Salt Years", "A Lamp at Sea", "The Grey Coast", "Nine Winters", "Rope and Oak"),
    *("The Slow River", "Letters Home", "The Iron Gate", "Low Water", "A Bell in Fog", "The Eel Book", "Chalk", "Harbour Songs"),
    *("The Last Ferry",),
)
QUESTION = "Which book did the builder of the {place} {work} write?"
BUILT, WROTE = (
    "The {place} {work} was built by {builder} in a single summer.",
    "The one book of this builder is called {book}, of 1802.",
)
SEEKS, NAMED, DONE = "I look for the builder.", "Now I look for the book.", "I have it."
LISTED = "It may be {}, {} or {}."
OPEN, CLOSE = '{"name": "search", "arguments": {"query": "', '"}}'
OPEN_LIST, AND, CLOSE_LIST = '{"name": "search", "arguments": {"query": ["', '", "', '"]}}'
WRONG_TOOL, UNCLOSED = '{"name": "lookup", "arguments": {"query": "', '"}'
FOUND, AND_SO = '{"quotes": [], "answer": "', '"}'
TAGS = ("<think>", "</think>", "<tool_call>", "</tool_call>", "<answer>", "</answer>")
HELD_OUT = 16
"""So many of the 80 works are in no task that a policy learns from, nor on the tape that it learns with."""


@dataclass(frozen=True, slots=True)
class PlantedWork:
    """A work of a port, with what is found about it."""

    place: str
    work: str
    builder: str
    book: str

    @property
    def question(self) -> str:
        """The question about it."""
        return QUESTION.format(place=self.place, work=self.work)

    @property
    def query(self) -> str:
        """The search that finds its builder."""
        return f"{self.place} {self.work}"


def plant_works(seed: int) -> tuple[list[PlantedWork], list[PlantedWork]]:
    """Return the works to learn from, and those that are held out. Each builder has five of all, and one book."""
    chance = random.Random(f"world {seed}")
    books = dict(zip(BUILDERS, chance.sample(BOOKS, len(BOOKS)), strict=True))
    places = [*product(PLACES, WORKS)]
    builders = [*BUILDERS] * (len(places) // len(BUILDERS))
    chance.shuffle(places)
    chance.shuffle(builders)
    works = [PlantedWork(place, work, name, books[name]) for (place, work), name in zip(places, builders, strict=True)]
    return works[HELD_OUT:], works[:HELD_OUT]


def record_tape(works: Sequence[PlantedWork]) -> Tape:
    """Record the two searches of each work. What is found does not name what it was searched by, but for the work."""
    tape = Tape()
    for each in works:
        said = BUILT.format(place=each.place, work=each.work, builder=each.builder), WROTE.format(book=each.book)
        for query, text in zip((each.query, each.builder), said, strict=True):
            source = Source(url="annals", title="Annals", snapshot=snapshot_hash(text))
            passages = (Passage(source=source, text=text, start=0, end=len(text)),)
            tape.record(ToolCall(name="search", arguments={"query": query}), ToolResult(passages=passages))
    return tape


def read_findings(path: Path) -> dict[str, str]:
    """Return what each query of a tape finds, as the file has it."""
    lines = map(json.loads, path.read_text("utf-8").splitlines())
    return {line["call"]["arguments"]["query"]: line["result"]["passages"][0]["text"] for line in lines}


@dataclass
class ErringSearcher:
    """The searcher of the mix, for one question about one of these works: a script of `ScriptedModel`.

    Four of five of its searches are the right ones. Three of ten calls are out of form; some list several searches, some thoughts
    names that nobody showed it.
    """

    works: Sequence[PlantedWork]
    chance: random.Random
    right: float = 0.8
    formed: float = 0.7
    asked: list[str] = field(default_factory=list)

    def __call__(self, request: ChatRequest) -> str:
        """Return the next turn."""
        opening, seen = request.messages[1].content, "\n".join(message.content for message in request.messages[2:])
        about = next(each for each in self.works if each.question in opening)
        if "The search is over" in seen:
            return f"<think>{DONE}</think><answer>{FOUND}{self._name_book(about, seen)}{AND_SO}</answer>"
        if about.builder not in seen:
            return self._act(about.query, SEEKS, 0.08)
        if about.book not in seen:
            return self._act(about.builder, NAMED, 0.2)
        return self._act(self._draw_query(), NAMED, 0.8)

    def _act(self, wanted: str, thought: str, stops: float) -> str:
        if self.chance.random() < stops:
            return self._end()
        query = wanted if self.chance.random() < self.right else self._draw_query()
        call = self._write_call(query)
        self.asked.append(query)
        return f"<think>{self._think(thought)}</think>{call}"

    def _end(self) -> str:
        return f"<think>{DONE}</think><answer>{self.chance.choice(BOOKS)}</answer>"

    def _name_book(self, about: PlantedWork, seen: str) -> str:
        return about.book if about.book in seen and self.chance.random() < self.right else self.chance.choice(BOOKS)

    def _draw_query(self) -> str:
        other = self.chance.choice(self.works)
        return self.chance.choice([other.query, other.builder, self.asked[-1] if self.asked else other.question])

    def _think(self, thought: str) -> str:
        listed = LISTED.format(*self.chance.sample(BUILDERS, 3))
        return thought if self.chance.random() < 0.9 else listed

    def _write_call(self, query: str) -> str:
        if self.chance.random() < 0.1:
            return f"<tool_call>{OPEN_LIST}{query}{AND}{self._draw_query()}{CLOSE_LIST}</tool_call>"
        ways = {
            f"<tool_call>{OPEN}{query}{CLOSE}</tool_call>": self.formed,
            f"<tool_call>{WRONG_TOOL}{query}{CLOSE}</tool_call>": 0.1,
            f"<tool_call>{OPEN}{query}{UNCLOSED}</tool_call>": 0.1,
            f"<tool_call>{OPEN}{query}{CLOSE}": 0.1,
        }
        return self.chance.choices([*ways], [*ways.values()])[0]


def list_phrases(told: Sequence[str]) -> list[str]:
    """Return the words that vary, and all that stands between them in these messages and in what the searcher writes.

    A policy with a token for each learns in minutes.
    """
    words = [*PLACES, *WORKS, *BUILDERS, *BOOKS, "p1", "p2", "p3"]
    wording = re.compile("|".join(re.escape(each) for each in sorted(words, key=len, reverse=True)))
    between = [piece for text in told for piece in wording.split(text) if len(piece) > 1]
    said = [SEEKS, NAMED, DONE, *LISTED.split("{}"), OPEN, CLOSE, OPEN_LIST, AND, CLOSE_LIST, WRONG_TOOL, UNCLOSED, FOUND, *TAGS]
    roles = [f"{role.value}\n" for role in ChatRole]
    return [*dict.fromkeys([*words, *between, *roles, *(each for each in said if len(each) > 1)])]
