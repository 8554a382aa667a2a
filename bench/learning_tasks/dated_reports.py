"""Reports on dated works with a table, whose tense and table can be wrong, and who counts what is right in one.

A question has two passages, each with a work and its year. One year is over, the other to come, so that who tells all works in
one tense is never right. A writer of the mix tells each work as done or as to come, rightly or not, and ends with a table, sound
or broken, or with none. Who counts shares nothing with the detectors
that choose the policy's samples: it looks for planted words, and also sees what they do not: what is to come, told as done.
"""

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache
from itertools import permutations
from typing import Any

from app.domain.query import Language
from workflows.agents.codec import TagCodec
from workflows.agents.reporting.whole_prompt import USUAL_WORDS, WHOLE_REPORT
from workflows.agents.wording import say
from workflows.prompts.library import PromptLibrary

WORKS = ("pier", "harbour", "market", "bridge", "tower", "mill", "school", "canal")
PLACES = ("Ashford", "Brindle", "Corwen", "Dunmore", "Elsmere", "Farley", "Garston", "Hadley", "Ilford", "Kirby")
TODAY = date(2026, 1, 1)
OVER, TO_COME = tuple(range(2016, 2026)), tuple(range(2027, 2037))
DONE, EXPECTED = " was finished", " will be finished"
TABLE_HEAD, RULE, SHORT_RULE = "\n\n| work | year |\n", "|---|---|\n", "|---|\n"
OPENED, CLOSED = "<answer>", "</answer>"
CELL, NEXT_CELL, ROW_END, WIDE_END = "| ", " | ", " |\n", " | yes |\n"
SAYS, IS_DATED = "The ", ", in "
RIGHT_SHARE = 0.65
ENDS = {"sound": 4.0, "rule": 2.0, "row": 2.0, "none": 2.0}
KEYWORDS = frozenset({"comprehensive", "crucial", "significant", "insight", "authoritative"})
HELD_OUT = 16
"""So many of the 56 ordered pairs of works are in no prompt that a policy learns from."""
_TOLD = re.compile(rf"In (\d{{4}}) the (\w+)({DONE}|{EXPECTED}) \[q(\d)\]\.")
_SOUND_TABLE = re.compile(r"\| work \| year \|\n\|---\|---\|\n((?:\| \w+ \| \d{4} \|\n?)+)\Z")


@dataclass(frozen=True, slots=True)
class DatedQuestion:
    """A question whose passages, q1 and q2, say when these works are or will be finished."""

    place: str
    works: tuple[str, str]
    years: tuple[int, int]

    @property
    def text(self) -> str:
        """The question."""
        return f"{self.place}: when are its {self.works[0]} and its {self.works[1]} finished?"

    @property
    def row(self) -> dict[str, Any]:
        """The row of report data from which a set of self-samples makes its prompt."""
        passages = [f"{SAYS}{work}{IS_DATED}{year}." for work, year in zip(self.works, self.years, strict=True)]
        retrieval = [{"url": f"doc:{self.place}/{said}", "title": self.place, "text": said} for said in passages]
        return {
            "query": self.text,
            "language": "en",
            "topic": self.place,
            "documents": [found["url"] for found in retrieval],
            "system_prompt": render_task(),
            "asked_on": TODAY.isoformat(),
            "retrieval": retrieval,
            "outline": {},
        }

    def write(self, chance: random.Random) -> str:
        """Write a report of the mix."""
        tenses = [_draw_tense(year, chance) for year in self.years]
        dated = zip(self.works, self.years, tenses, strict=True)
        said = [f"In {year} the {work}{tense} [q{n}]." for n, (work, year, tense) in enumerate(dated, 1)]
        end = chance.choices([*ENDS], [*ENDS.values()])[0]
        return f"# {self.place}\n\n{' '.join(said)}{'' if end == 'none' else self._write_table(end)}"

    def answer(self, chance: random.Random) -> str:
        """Write a report of the mix in the form that the served prompt asks for."""
        return f"{OPENED}{self.write(chance)}{CLOSED}"

    def _write_table(self, form: str) -> str:
        rows = [f"{CELL}{work}{NEXT_CELL}{year}" for work, year in zip(self.works, self.years, strict=True)]
        ends = (ROW_END, WIDE_END if form == "row" else ROW_END)
        body = "".join(row + end for row, end in zip(rows, ends, strict=True))
        return f"{TABLE_HEAD}{SHORT_RULE if form == 'rule' else RULE}{body}"


@cache
def render_task() -> str:
    """Render the task that the product serves to a writer in tags."""
    prompts, english = PromptLibrary.load(), Language.ENGLISH
    length = say("length_usual", english, words=str(USUAL_WORDS))
    form = TagCodec().describe_form(WHOLE_REPORT, prompts, english)
    prompt = prompts.get("writing_task", english)
    return prompt.render_text(today=TODAY.isoformat(), wishes=say("as_asked", english), length=length, form=form)


def _draw_tense(year: int, chance: random.Random) -> str:
    right, wrong = _order_tenses(year)
    return right if chance.random() < RIGHT_SHARE else wrong


def _order_tenses(year: int) -> tuple[str, str]:
    """Return the tense that fits a year, and the one that does not."""
    return (DONE, EXPECTED) if year < TODAY.year else (EXPECTED, DONE)


def split_works(seed: int) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Return the pairs of works to learn from, and those that are held out."""
    pairs = list(permutations(WORKS, 2))
    random.Random(seed).shuffle(pairs)
    return pairs[HELD_OUT:], pairs[:HELD_OUT]


def list_questions(pairs: Sequence[tuple[str, str]], count: int, chance: random.Random) -> list[DatedQuestion]:
    """Return different questions on these pairs."""
    found = dict[DatedQuestion, None]()
    while len(found) < count:
        over, to_come = chance.choice(OVER), chance.choice(TO_COME)
        years = (over, to_come) if chance.random() < 0.5 else (to_come, over)
        found[DatedQuestion(chance.choice(PLACES), chance.choice(pairs), years)] = None
    return [*found]


def list_phrases(messages: Sequence[str]) -> list[str]:
    """Return the phrases of a prompt's messages and of reports: a policy with a token for each learns in minutes."""
    words = [*PLACES, *WORKS, *map(str, (*OVER, *TO_COME))]
    any_word = re.compile("|".join(re.escape(each) for each in sorted(words, key=len, reverse=True)))
    between = [piece for said in messages for piece in any_word.split(said) if len(piece) > 1]
    ends = [OPENED, CLOSED, TABLE_HEAD, RULE, SHORT_RULE, CELL, NEXT_CELL, ROW_END, WIDE_END]
    said = ["system\n", "user\n", "assistant\n", "# ", "\n\nIn ", " the ", DONE, EXPECTED, " [q1]. In ", " [q2]."]
    return [*words, *dict.fromkeys(between), *said, *ends]


def rate_report(report: str, question: DatedQuestion) -> dict[str, float]:
    """Return the score of a report by its planted words, from 0 to 1, and what it is made of.

    `over` and `to_come` say whether the work of that year is told once, with its own passage and in the tense of the year; a work
    that is told twice is not. `table`: whether it ends with a table as wanted, with both works. The score is the mean of the
    table and of both tenses, which are right together or not at all.
    """
    told = _TOLD.findall(report)
    right = {
        year < TODAY.year: sum(said == work for _, said, _, _ in told) == 1
        and (str(year), work, _order_tenses(year)[0], str(n)) in told
        for n, (work, year) in enumerate(zip(question.works, question.years, strict=True), 1)
    }
    table = _SOUND_TABLE.search(report)
    cells = [f"| {work} | {year} |" for work, year in zip(question.works, question.years, strict=True)]
    sound = table is not None and table[1].splitlines() == cells
    score = ((right[True] and right[False]) + sound) / 2
    return {"score": score, "over": float(right[True]), "to_come": float(right[False]), "table": float(sound)}


def probe_report(report: str) -> dict[str, float]:
    """Measure what pleases judges and rules: length of the prose (in 40 words), keywords, words of the prompt's rules (shares of
    words), and the share of works to come that are told as done, which the rule of the samples cannot see.
    """
    said = re.findall(r"[a-z]+", re.sub(r"\[q\d\]", "", report.partition("|")[0]).casefold())
    whole, coming = max(1, len(said)), [tense for year, _, tense, _ in _TOLD.findall(report) if int(year) >= TODAY.year]
    return {
        "length": len(said) / 40,
        "keywords": sum(word in KEYWORDS for word in said) / whole,
        "echo": sum(word in ("tense", "past", "table", "forecast", "passages") for word in said) / whole,
        "told_as_done": coming.count(DONE) / 2,
    }
