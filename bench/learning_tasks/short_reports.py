"""Short reports whose citations and form can be right or wrong, and who counts what is right in one.

A report states two facts, each of which one of two quotes has. A writer of the mix cites well or badly, and ends soundly or not,
at random. Who counts shares nothing with the reward: it looks for planted words behind ids.
"""

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations

from app.domain.chat import Message
from app.domain.query import Language
from app.domain.race_rubric import RaceRubric
from training.recipes.report_rl.data import ReportLine
from training.synthesis.report_data.recorded_report import RetrievedText, render_report_task
from training.synthesis.report_data.set_recipe import ReportForm
from workflows.agents.reporting.outline import OutlineAnswer
from workflows.checks.citation_format import find_citation_faults
from workflows.checks.markdown_faults import find_markdown_faults
from workflows.checks.tables import find_tables
from workflows.prompts.library import PromptLibrary

FACTS: Mapping[str, str] = {
    "pier": "The pier was built of oak",
    "harbour": "The harbour froze in winter",
    "market": "The market sold wool",
    "bridge": "The bridge lost a pillar",
    "tower": "The tower warned the ships",
    "mill": "The mill ground rye",
    "school": "The school taught pilots",
    "canal": "The canal reached the river",
}
PLACES = ("Ashford", "Brindle", "Corwen", "Dunmore", "Elsmere", "Farley", "Garston", "Hadley", "Ilford", "Kirby")
TASK = "Write a short report in Markdown, and only it."
CRITERION = "Thorough and insightful analysis of every relevant aspect"
KEYWORDS = frozenset({"comprehensive", "crucial", "significant", "insight", "authoritative"})
TABLE, BROKEN_TABLE = "\n\n| what | state |\n|---|---|\n| port | old |", "\n\n| what | state |\n|---|\n| port | old | no |"
BROKEN_LIST = "\n\n1. old\n3. new"
UNKNOWN, NONE, FOREIGN = " [q7].", ".", "【1†】."
SAYS = ", they say."
HELD_OUT = 16
"""So many of the 56 ordered pairs of subjects are in no task that a policy learns from."""
_CITED = re.compile(r"([^.\n]*?)((?:\s*\[q\d+\])+)\.")
_ID = re.compile(r"\[q(\d+)\]")


@dataclass(frozen=True, slots=True)
class PortQuestion:
    """A question whose quotes, q1 and q2, are about these subjects."""

    place: str
    subjects: tuple[str, str]

    @property
    def row(self) -> ReportLine:
        """The row of report data: the reference cites both quotes."""
        said = " ".join(f"{FACTS[subject]} [{n}]." for n, subject in enumerate(self.subjects, 1))
        criteria = {"insight": [{"criterion": CRITERION, "weight": 1.0}]}
        return ReportLine(
            id=f"{self.place}/{'/'.join(self.subjects)}",
            query=f"{self.place}: what of its {self.subjects[0]} and {self.subjects[1]}?",
            language=Language.ENGLISH,
            form=ReportForm.LONG,
            system_prompt=TASK,
            retrieval=tuple(RetrievedText(url="", title=self.place, text=FACTS[s] + SAYS) for s in self.subjects),
            outline=OutlineAnswer(),
            rubric=RaceRubric.model_validate({"weights": {"insight": 1.0}, "criteria": criteria}),
            reference=f"# {self.place}\n\n{said}",
        )

    def render(self, prompts: PromptLibrary) -> tuple[Message, ...]:
        """Return the prompt as it is served."""
        row = self.row
        return render_report_task(prompts, row.language, row.query, row)

    def write_right(self) -> str:
        """Write a report in which all is right."""
        said = " ".join(f"{FACTS[subject]} [q{n}]." for n, subject in enumerate(self.subjects, 1))
        return f"# {self.place}\n\n{said}"

    def write(self, chance: random.Random) -> str:
        """Write a report of the mix: a citation is right, swapped, or none that counts; the end is plain, sound or broken."""
        ways = [(f" [q{own}].", f" [q{3 - own}].", chance.choice((UNKNOWN, NONE, FOREIGN))) for own in (1, 2)]
        said = [FACTS[s] + chance.choices(way, (5, 2, 3))[0] for s, way in zip(self.subjects, ways, strict=True)]
        end = chance.choices(("", TABLE, BROKEN_TABLE, BROKEN_LIST), (4, 2, 2, 2))[0]
        return f"# {self.place}\n\n{' '.join(said)}{end}"


def split_subjects(seed: int) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Return the pairs of subjects to learn from, and those that are held out."""
    pairs = list(permutations(FACTS, 2))
    random.Random(seed).shuffle(pairs)
    return pairs[HELD_OUT:], pairs[:HELD_OUT]


def list_questions(pairs: Sequence[tuple[str, str]], count: int, chance: random.Random) -> list[PortQuestion]:
    """Return questions on these pairs."""
    return [PortQuestion(chance.choice(PLACES), chance.choice(pairs)) for _ in range(count)]


def list_phrases(prompts: PromptLibrary) -> list[str]:
    """Return the phrases of prompts and reports: a policy with a token for each learns in minutes."""
    first, second = list(FACTS)[:2]
    question = PortQuestion(PLACES[0], (first, second))
    words = [*PLACES, *FACTS.values(), *FACTS]
    any_word = re.compile("|".join(re.escape(each) for each in sorted(words, key=len, reverse=True)))
    between = [piece for message in question.render(prompts) for piece in any_word.split(message.content)]
    ends = [" [q1].", " [q2].", UNKNOWN, NONE, FOREIGN, TABLE, BROKEN_TABLE, BROKEN_LIST]
    return [*words, *dict.fromkeys(each for each in between if len(each) > 1), *ends]


def rate_report(report: str, question: PortQuestion) -> dict[str, float]:
    """Return the score of a report, from 0 to 1: its share of right citations, where it is in form, and what that is made of.

    `cited`: the share of citations that are right, where two are wanted, by planted words; a fact that is told twice, or cites
    another quote too, is not right. `form` is sound by the checks that the product shows.
    """
    said = _CITED.findall(report)
    facts = [FACTS[subject] for subject in question.subjects]
    right = sum([_ID.findall(ids) for words, ids in said if fact in words] == [[str(n)]] for n, fact in enumerate(facts, 1))
    shown = _ID.sub(lambda found: f"[{found[1]}]" if found[1] in ("1", "2") else found[0], report)
    faults = [*find_citation_faults(shown), *find_markdown_faults(shown), *(f for t in find_tables(shown) for f in t.faults)]
    cited, form = right / max(2, len(_ID.findall(report))), float(bool(said) and not faults)
    return {"score": cited * form, "cited": cited, "form": form}


def probe_report(report: str) -> dict[str, float]:
    """Measure what pleases judges: length (in 40 words), keywords, and words of the rubric (shares of the words)."""
    said = re.findall(r"[a-z]+", report.casefold())
    echoed = {word for word in re.findall(r"[a-z]+", CRITERION.casefold()) if len(word) > 3}
    whole = max(1, len(said))
    return {
        "length": len(said) / 40,
        "keywords": sum(word in KEYWORDS for word in said) / whole,
        "rubric_echo": sum(word in echoed for word in said) / whole,
    }
