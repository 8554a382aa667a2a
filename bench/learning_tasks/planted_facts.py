"""A small world to report on: six facts of each work of a port, each found by one search; and a reporter who errs by chance.

The rubric of a question has one criterion for each fact. The reporter of the mix searches for the right thing or another, leaves
facts out or gets them wrong, cites well or badly, pads its reports, and is in form or out of it.
"""

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from app.domain.chat import ChatRequest, ChatRole, ToolCall, ToolResult
from app.domain.evidence import Passage, Source, snapshot_hash
from app.domain.evidence_rubric import CriterionType, EvidenceCriterion, EvidenceRubric
from bench.learning_tasks.planted_searches import AND, CLOSE_LIST, OPEN_LIST, TAGS, UNCLOSED
from retrieval.tape import Tape

PLACES = (
    *("Ashford", "Brindle", "Corwen", "Dunmore", "Elsmere", "Farley", "Garston", "Hadley", "Ilford", "Kirby"),
    *("Lydney", "Marlow", "Norden", "Oldham", "Penrith", "Quorn", "Ryde", "Selby", "Thirsk", "Ulverston"),
)
WORKS = (
    *("pier", "harbour", "market", "bridge", "tower", "mill", "school", "canal"),
    *("lock", "quay", "chapel", "forge", "ferry", "well", "barn", "gate"),
)
HELD_OUT = 32
"""So many of the 320 works are in no task that a policy learns from, nor on the tape that it learns with."""


@dataclass(frozen=True, slots=True)
class Topic:
    """A kind of fact: its name in a query, how a sentence says it, how a criterion asks for it, and what may hold."""

    name: str
    says: str
    asks: str
    values: tuple[str, ...]

    def state(self, value: str) -> str:
        """Return the sentence that says it of the work in hand."""
        return f"{self.says} {value}, say the annals."


TOPICS = (
    Topic("builder", "It was built by", "by whom it was built", ("Moss", "Thorne", "Vale", "Wick")),
    Topic("stuff", "It is made of", "of what it is made", ("oak", "granite", "brick", "iron")),
    Topic("opening", "It was opened in", "when it was opened", ("1802", "1811", "1824", "1840")),
    Topic("keeper", "It is kept by", "who keeps it", ("monks", "pilots", "widows", "clerks")),
    Topic("toll", "It takes a toll of", "what toll it takes", ("salt", "wool", "rope", "wax")),
    Topic("loss", "It was once lost to", "to what it was lost", ("fire", "storms", "debt", "war")),
)
QUESTION = "What is known of the {place} {work}?"
FACTS = len(TOPICS)
A_TURN = 3
"""The most searches of a turn: two turns find all six facts."""
SEEKS, KNOWS = "What is missing?", "It is found."
WRONG_LIST = '{"name": "lookup", "arguments": {"query": ["'
OPEN_CITE, INSIDE, CLOSE_CITE = '<cite id="', '">', "</cite> "
INVENTED = "p9"
FILLER = "A comprehensive and crucial account. "
ECHO = "This says of it {asks}. "
IDS = tuple(f"p{n}" for n in range(1, 10))
_SNIPPET = re.compile(r'<snippet id="(p\d+)"[^>]*>\n(.*?)\n</snippet>')


@dataclass(frozen=True, slots=True)
class KnownWork:
    """A work of a port, with its facts by topic."""

    place: str
    work: str
    values: Mapping[str, str]

    @property
    def question(self) -> str:
        """The question about it."""
        return QUESTION.format(place=self.place, work=self.work)

    @property
    def rubric(self) -> EvidenceRubric:
        """One factual criterion for each fact, with its statement as evidence."""
        return EvidenceRubric(criteria=tuple(map(self._ask_for, TOPICS)))

    def query(self, topic: Topic) -> str:
        """Return the search that finds a fact."""
        return f"{self.place} {self.work} {topic.name}"

    def state(self, topic: Topic) -> str:
        """Return the sentence that states a fact."""
        return topic.state(self.values[topic.name])

    def _ask_for(self, topic: Topic) -> EvidenceCriterion:
        return EvidenceCriterion(
            id=topic.name,
            type=CriterionType.FACTUAL,
            description=f"Says of the {self.place} {self.work} {topic.asks}.",
            weight=1.0,
            source_leaf_ids=(self.query(topic),),
            evidence=(self.state(topic),),
        )


def plant_facts(seed: int) -> tuple[list[KnownWork], list[KnownWork]]:
    """Return the works to learn from, and those that are held out."""
    chance = random.Random(f"facts {seed}")
    places = [*product(PLACES, WORKS)]
    chance.shuffle(places)
    works = [KnownWork(place, work, {each.name: chance.choice(each.values) for each in TOPICS}) for place, work in places]
    return works[HELD_OUT:], works[:HELD_OUT]


def record_facts(works: Sequence[KnownWork]) -> Tape:
    """Record the six searches of each work."""
    tape = Tape()
    for work, topic in product(works, TOPICS):
        text = work.state(topic)
        source = Source(url="annals", title="Annals", snapshot=snapshot_hash(text))
        passages = (Passage(source=source, text=text, start=0, end=len(text)),)
        tape.record(ToolCall(name="search", arguments={"query": work.query(topic)}), ToolResult(passages=passages))
    return tape


@dataclass
class ErringReporter:
    """The agent for one question about one of these works: a script of `ScriptedModel`.

    Some of its searches are for other things, and a quarter of its turns is out of form. Some reports are cut short or guess.
    Half of them cite rightly; others take the ids of their neighbours, an id that does not exist, or none. Some pad.
    """

    works: Sequence[KnownWork]
    chance: random.Random
    right: float = 0.85
    formed: float = 0.75
    stops: float = 0.15

    def __call__(self, request: ChatRequest) -> str:
        """Return the next turn."""
        opening, since = request.messages[1].content, request.messages[2:]
        about = next(each for each in self.works if each.question in opening)
        seen = _SNIPPET.findall("\n".join(message.content for message in since))
        turns = sum(message.role is ChatRole.ASSISTANT for message in since)
        left = [topic for topic in TOPICS if about.state(topic) not in dict(seen).values()]
        is_over = "The search is over" in since[-1].content if since else False
        if is_over or turns > 2 or not left or (turns and self._happens(self.stops)):
            return self._report(about, seen)
        return self._search(about, left[:A_TURN])

    def _search(self, about: KnownWork, topics: Sequence[Topic]) -> str:
        asked = [about.query(each) if self._happens(self.right) else self._draw_query(about) for each in topics]
        queries = AND.join(asked)
        call = f"{OPEN_LIST}{queries}{CLOSE_LIST}"
        wrong, unclosed = f"{WRONG_LIST}{queries}{CLOSE_LIST}", f"{OPEN_LIST}{queries}{UNCLOSED}"
        ways = f"{call}</tool_call>", f"{wrong}</tool_call>", f"{unclosed}</tool_call>", call
        return f"<think>{SEEKS}</think><tool_call>{self._draw_form(ways)}"

    def _draw_query(self, about: KnownWork) -> str:
        return self.chance.choice([about, self.chance.choice(self.works)]).query(self.chance.choice(TOPICS))

    def _report(self, about: KnownWork, seen: Sequence[tuple[str, str]]) -> str:
        facts = [(name, text) for name, text in seen if text.startswith("It ")]
        told = facts if self._happens(self.right) else facts[: self.chance.randint(1, A_TURN)]
        texts = [text for _, text in told]
        texts = texts if self._happens(self.right) else [*map(self._guess, texts)]
        names = self._draw_citations([name for name, _ in told])
        said = "".join(self._pad(about) + cite(name, text) for name, text in zip(names, texts, strict=True))
        answer = f"<answer>{said or FILLER}"
        whole = f"<think>{KNOWS}</think>{answer}</answer>"
        return self._draw_form((whole, f"{answer}</answer>", f"{KNOWS}{answer}</answer>", f"<think>{KNOWS}</think>{answer}"))

    def _guess(self, text: str) -> str:
        topic = next(each for each in TOPICS if text.startswith(each.says))
        return topic.state(self.chance.choice(topic.values))

    def _draw_citations(self, names: Sequence[str]) -> Sequence[str]:
        ways = names, [*names[1:], *names[:1]], [INVENTED] * len(names), [""] * len(names)
        return self.chance.choices(ways, (0.5, 0.2, 0.15, 0.15))[0]

    def _pad(self, about: KnownWork) -> str:
        ways = ("", FILLER, ECHO.format(asks=self.chance.choice(TOPICS).asks), f"{about.question} ")
        return self.chance.choices(ways, (0.88, 0.04, 0.04, 0.04))[0]

    def _draw_form(self, ways: Sequence[str]) -> str:
        return self.chance.choices(ways, (self.formed, *[(1 - self.formed) / (len(ways) - 1)] * (len(ways) - 1)))[0]

    def _happens(self, share: float) -> bool:
        return self.chance.random() < share


def cite(name: str, text: str) -> str:
    """Return a sentence under a citation; without a name, as it is."""
    return f"{OPEN_CITE}{name}{INSIDE}{text}{CLOSE_CITE}" if name else f"{text} "


def list_phrases(told: Sequence[str]) -> list[str]:
    """Return the words that vary, and all that stands between them in these messages and in what the reporter writes.

    A policy with a token for each learns in minutes.
    """
    words = [*PLACES, *(f" {each}" for each in WORKS), *(f" {topic.name}" for topic in TOPICS), *IDS]
    words += [topic.state(value) for topic in TOPICS for value in topic.values]
    wording = re.compile("|".join(re.escape(each) for each in sorted(words, key=len, reverse=True)))
    between = [piece for text in told for piece in wording.split(text) if len(piece) > 1]
    own = [SEEKS, KNOWS, OPEN_LIST, AND, CLOSE_LIST, WRONG_LIST, UNCLOSED, OPEN_CITE, INSIDE, CLOSE_CITE, FILLER]
    asked = QUESTION.replace("{work}", "{place}").split("{place}")
    echoes = [ECHO.format(asks=topic.asks) for topic in TOPICS]
    roles = [f"{role.value}\n" for role in ChatRole]
    said = [*words, *between, *roles, *own, *asked, *echoes, *TAGS]
    return [*dict.fromkeys(each for each in said if len(each) > 1)]
