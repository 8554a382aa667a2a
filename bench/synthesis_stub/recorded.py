"""Answers of a stand-in for a model about recorded runs: reviews, verdicts, references and outputs, drawn by the request."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any

from tests.support.model_stub_answers import StubPrompt
from tests.support.model_stub_script import PASSAGE

_SENTENCE = re.compile(r"[A-Z][^.!?\n<>&|\[\]]{40,300}[.!?]")
_QUESTION = re.compile(r"<question>\n(.*?)\n</question>", re.DOTALL)
_ANSWERS = re.compile(r"<answer_a>\n(.*?)\n</answer_a>\n<answer_b>\n(.*?)\n</answer_b>", re.DOTALL)
SCORES = ("reasoning", "relevance", "factuality", "instructions", "coherence")
SIDES = {
    "comprehensiveness": ("reasons of both sides", "effects on the treasury", "what opponents said"),
    "insight": ("causes told apart from occasions", "what the sources leave open"),
    "instruction_following": ("the question is answered", "the period is kept"),
    "readability": ("sections lead on from each other", "terms are explained"),
}
PARTS = ("What was said", "What it rested on", "What remains open")
FORETOLD = "The tariff will be passed in 1824, and the treasury is expected to gain from it by 1825 [q1]."
BROKEN_TABLE = "| what | value |\n| duty | high |\n| revenue | eleven |"
ONE_REFUSED_OF, ONE_TOLD_BY_PLACE_OF, MOST_CITED = 7, 8, 8


def answer_about_runs(prompt: StubPrompt) -> str | None:
    """Return the answer to a step of a set that is made of recorded runs; None for another step."""
    if play := STEPS.get(prompt.step):
        return json.dumps(play(prompt))
    if prompt.step == "" and "<criteria>\n" in prompt.last:
        return write_reference(prompt)
    return write_output(prompt) if prompt.step == "" and _QUESTION.search(prompt.last) and "<evidence>" in prompt.last else None


def review(prompt: StubPrompt) -> Mapping[str, Any]:
    """Score a trajectory 4 or 5 everywhere, and one of several trajectories low in one place."""
    dice = prompt.make_dice()
    scores = {name: dice.choice((4, 5)) for name in SCORES}
    low = {dice.choice(SCORES): 2} if dice.randrange(ONE_REFUSED_OF) == 0 else {}
    return {"weakest": "a stand-in's remark", **scores, **low}


def weigh(_: StubPrompt) -> Mapping[str, Any]:
    """Weigh the four dimensions of a rubric."""
    return {"analysis": "", "comprehensiveness": 0.4, "insight": 0.3, "instruction_following": 0.2, "readability": 0.1}


def list_criteria(prompt: StubPrompt) -> Mapping[str, Any]:
    """Return the criteria of the dimension that the prompt names."""
    names = next((names for side, names in SIDES.items() if f"dimension: {side}" in prompt.last), SIDES["insight"])
    return {
        "analysis": "",
        "criteria": [{"criterion": n, "explanation": f"It shows {n}.", "weight": 1 / len(names)} for n in names],
    }


def find_no_flaws(_: StubPrompt) -> Mapping[str, Any]:
    """Find no errors, and no mere aggregation."""
    return {"errors": [], "aggregation": "no"}


def prefer(prompt: StubPrompt) -> Mapping[str, Any]:
    """Prefer the answer with more distinct words in either order; for one pair in several, what stands first."""
    first, second = _ANSWERS.findall(prompt.last)[0]
    by_place = Random(min(first, second)).randrange(ONE_TOLD_BY_PLACE_OF) == 0
    better = "A" if by_place or len(set(first.split())) > len(set(second.split())) else "B"
    return {"analysis": "a stand-in's remark", "better": better}


def meet(prompt: StubPrompt) -> Mapping[str, Any]:
    """Give an output with a whole table 3 or 4 points for a dimension, and any other 0 or 1."""
    whole = "| --- |" in prompt.last.partition("<answer>")[2]
    return {"analysis": "a stand-in's remark", "score": prompt.make_dice().choice((3, 4) if whole else (0, 1))}


def write_reference(prompt: StubPrompt) -> str:
    """Write a report of the question and its criteria alone."""
    found = _QUESTION.search(prompt.last)
    criteria = re.findall(r"^- \(.*?\) (.*)$", prompt.last, re.MULTILINE)
    sections = [f"## {one.partition(':')[0].capitalize()}\n\n{one} The sources speak of it at length." for one in criteria]
    return "\n\n".join([f"# {found[1] if found else 'A report'}", *sections])


def write_output(prompt: StubPrompt) -> str:
    """Write an output for a prompt with passages: most are reports with citations, others have a fault that code can find."""
    dice, found = prompt.make_dice(), _QUESTION.search(prompt.last)
    title = f"# {found[1].rstrip('?') if found else 'A report'}"
    told = [f"{sentence} [{name}]." for name, sentence in _choose_sentences(prompt, dice)]
    match dice.randrange(4):
        case 0:
            return "\n\n".join([title, FORETOLD, BROKEN_TABLE])
        case 1:
            return "\n\n".join([title, *(re.sub(r" \[q\d+\]", "", one) for one in told[:2])])
        case _:
            return "\n\n".join([title, *_lay_out(told), _tabulate(told)])


def _choose_sentences(prompt: StubPrompt, dice: Random) -> list[tuple[str, str]]:
    """Choose a sentence of each of some passages, with the passage's id."""
    usable = [(name, sentences) for name, text in PASSAGE.findall(prompt.last) if (sentences := _SENTENCE.findall(text))]
    chosen = sorted(dice.sample(usable, min(len(usable), MOST_CITED)), key=lambda each: int(each[0][1:]))
    return [(name, dice.choice(sentences).rstrip(".!?")) for name, sentences in chosen]


def _lay_out(told: Sequence[str]) -> list[str]:
    """Deal out sentences to sections."""
    return [f"## {part}\n\n" + " ".join(told[at :: len(PARTS)]) for at, part in enumerate(PARTS) if told[at :: len(PARTS)]]


def _tabulate(told: Sequence[str]) -> str:
    rows = [f"| {number} | {len(one.split())} |" for number, one in enumerate(told, 1)]
    return "\n".join(["| passage | words |", "| --- | --- |", *rows])


STEPS: Mapping[str, Callable[[StubPrompt], Mapping[str, Any]]] = {
    "trajectory_review": review,
    "race_weights": weigh,
    "race_criteria": list_criteria,
    "report_flaws": find_no_flaws,
    "pairwise": prefer,
    "criterion_met": meet,
}
