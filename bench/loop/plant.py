"""What is planted: questions that say what their readers want, reports with one feature each, and a reader's eye for them.

A question says by its opening and by its end what its readers want. Its nouns are in no other question, so that none is a
near-copy of another. A report has one of the four features; the better one of two has a
wanted one.
"""

import hashlib
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass

FEATURES = ("table", "headings", "limits", "shorter")
OPENINGS = {
    "table": "Compare {a} with {b} by their ships",
    "headings": "Give an overview of {a} and {b}",
    "limits": "How sure is it that {a} was older than {b}",
    "shorter": "Sum up {a} and {b}",
}
ENDS = {
    "table": ", number after number",
    "headings": ", period after period",
    "limits": ", with every doubt",
    "shorter": ", for a busy reader",
}
UNSEEN = (("table", "shorter"), ("shorter", "table"), ("headings", "limits"), ("limits", "headings"))
"""Pairs of opening and end that no question has: who learns has to read both ends of them."""
SEEN = tuple((one, other) for one in OPENINGS for other in ENDS if (one, other) not in UNSEEN)
TOLD_BY = ", as {c} and {d} tell it"
SYLLABLES = tuple(first + rest for first in "bdfgklmprt" for rest in ("an", "el", "im", "or", "us"))
SYLLABLES_A_NOUN = 3
PLAIN_WRITER = "stub"
"""The settings' model: which feature its report has, the question decides."""
SENTENCES = (
    "The keeper counted {n} {ships} in the spring of {year}",
    "Merchants of the lower town paid duties on {n} {ships} before the winter of {year}",
    "A letter from {year} praises the lighthouse, by which {n} {ships} found the channel",
    "After the flood of {year} the council lent money to the owners of {n} {ships}",
)
"""A report says nothing twice: one that does is refused."""
SHIPS = ("brigs", "cutters", "barges", "whalers", "schooners")
TABLE = "| port | ships |\n|---|---|\n| one | 7 |\n| two | 9 |"
LIMITS = "What came in at night remains unknown."
MANY, FEW, PARTS = 20, 2, 10
_SHIPS = re.compile(rf"\d+ (?:{'|'.join(SHIPS)})")
_HEADING = re.compile(r"^#{2,}\s+Part \d+", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Question:
    """A question with what its readers want."""

    text: str
    wanted: frozenset[str]


def list_questions(count: int, seed: object) -> list[Question]:
    """Draw questions, each kind as often as the others."""
    chance = random.Random(f"loop {seed}")
    kinds = [SEEN[number % len(SEEN)] for number in range(count)]
    return [Question(_word(opening, end, chance), frozenset((opening, end))) for opening, end in kinds]


def _word(opening: str, end: str, chance: random.Random) -> str:
    nouns = {name: "".join(chance.sample(SYLLABLES, SYLLABLES_A_NOUN)) for name in "abcd"}
    return f"{OPENINGS[opening].format(**nouns)}{TOLD_BY.format(**nouns)}{ENDS[end]}?"


def read_wanted(question: str) -> frozenset[str]:
    """Return what the readers of a question want, by its words alone."""
    opening = next((name for name, text in OPENINGS.items() if question.startswith(text.partition("{")[0])), "")
    end = next((name for name, text in ENDS.items() if question.endswith(f"{text}?")), "")
    return frozenset((opening, end)) - {""}


def choose_feature(writer: str, question: str) -> str:
    """Return the feature of a writer's report: its own; that of the plain writer is drawn by the question."""
    if writer in FEATURES:
        return writer
    drawn = hashlib.sha256(question.encode()).digest()
    side = sorted(read_wanted(question)) if drawn[0] % 2 else sorted(set(FEATURES) - read_wanted(question))
    return side[drawn[1] % len(side)]


def choose_writer(question: str) -> str:
    """Return the writer of a second report, so that one of the two has a wanted feature and the other has not."""
    wanted, delivered = read_wanted(question), choose_feature(PLAIN_WRITER, question)
    others = sorted(set(FEATURES) - wanted if delivered in wanted else wanted)
    return others[hashlib.sha256(question.encode()).digest()[2] % len(others)]


def write_report(question: str, feature: str, sources: Sequence[str]) -> str:
    """Write a report with a feature, whose sentences cite these sources in turn."""
    count, parts = (FEW if feature == "shorter" else MANY), (PARTS if feature == "headings" else 1)
    cited = [f"{_write_sentence(n)} [{sources[n % len(sources)]}]." for n in range(count)]
    texts = [" ".join(cited[n::parts]) for n in range(parts)]
    body = "\n\n".join(f"## Part {n}\n\n{text}" for n, text in enumerate(texts, 1))
    more = {"table": f"\n\n{TABLE}", "limits": f"\n\n{LIMITS}"}.get(feature, "")
    return f"# {question.rstrip('?')}\n\n{body}{more}\n"


def _write_sentence(n: int) -> str:
    return SENTENCES[n % len(SENTENCES)].format(n=7 * n + 11, ships=SHIPS[n % len(SHIPS)], year=1801 + 3 * n)


def see_features(markdown: str) -> frozenset[str]:
    """Return the features that a reader sees in a report."""
    seen = {
        "table": "\n|" in markdown,
        "headings": len(_HEADING.findall(markdown)) >= PARTS,
        "limits": LIMITS.split()[-1].rstrip(".") in markdown,
        "shorter": len(_SHIPS.findall(markdown)) <= 2 * FEW,
    }
    return frozenset(name for name, is_there in seen.items() if is_there)
