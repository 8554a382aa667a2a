"""Plays each step of the chain for the stub, so that a run has a known size and its citations resolve.

A step is known by the name of its schema; only section writing has none. A script takes all it says from the request it
answers. With the default shape and the effort `deep`, a run makes 67 model calls and 12 searches.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Self

from tests.support import model_stub_whole
from tests.support.model_stub_answers import StubPrompt
from tests.support.model_stub_judge import JUDGES

ASPECTS = (
    "the reasons given in annual messages",
    "revenue and the treasury",
    "protection of manufactures",
    "opposition in Congress",
    "farmers and exports",
    "foreign treaties and reciprocity",
    "prices and wages",
    "constitutional power",
    "the public debt and the surplus",
    "the view of the southern states",
    "war and emergency",
    "later judgement",
)
QUESTION = re.compile(r"[^\n.:>]{8,200}\?")
PART = re.compile(r"\(part (\d+): ([^)]+)\)")
PASSAGE = re.compile(r'<passage id="(q\d+)">\n(.*?)\n</passage>', re.DOTALL)
CITED = re.compile(r"\[(q\d+)\]")
SENTENCE = re.compile(r"[A-Z][^.!?\n<>&]{40,320}[.!?]")
THOUGHT = (
    "The passages seen so far answer part of the question. What is still missing is a statement by a later president, and one "
    "that disagrees with the first. The next step is therefore to look for wording that names both, before concluding."
)


@dataclass(frozen=True, slots=True)
class RunShape:
    """The size of a run: subtasks in the plan, turns of a search agent (each fourth makes one less), searches, citations of a
    part, sections.
    """

    subtasks: int = 8
    turns: int = 7
    searches: int = 12
    quotes: int = 6
    sections: int = 9

    @classmethod
    def parse(cls, words: Iterable[str]) -> Self:
        """Read `name=count` words. Raises TypeError on an unknown name, ValueError on a count that is no number."""
        return cls(**{name: int(count) for name, _, count in (word.partition("=") for word in words)})

    def turns_of(self, part: int) -> int:
        """Return the turns of the search agent of part 1, 2, ...; the last of them is its decision to finish."""
        return self.turns - (part % 4 == 0)

    def searches_of(self, part: int) -> int:
        """Return the searches of that agent: all are shared out evenly, the first parts get what is left over."""
        return self.searches // self.subtasks + (part <= self.searches % self.subtasks)


def answer_by_script(prompt: StubPrompt, shape: RunShape) -> Any:
    """Return the scripted answer to a step, or None where the stub has no script and the schema decides."""
    if whole := model_stub_whole.STEPS.get(prompt.step):
        return whole(prompt)
    if judge := JUDGES.get(prompt.step):
        return judge(prompt)
    play = STEPS.get(prompt.step)
    return play(prompt, shape) if play else None


def play_intent(prompt: StubPrompt, _: RunShape) -> Any:
    """Restate the question."""
    asked = find_question(prompt)
    return {
        "goal": f"Explain from the sources: {asked}",
        "must_cover": list(ASPECTS[:3]),
        "scope": "the annual messages of presidents",
        "form": "a history with quotations",
        "interpretations": [],
        "key_terms": sorted(set(re.findall(r"[a-z]{5,}", asked)))[:6],
    }


def play_plan(prompt: StubPrompt, shape: RunShape) -> Any:
    """Make one subtask for each aspect, none of which needs another."""
    asked = find_question(prompt).rstrip("?")
    subtasks = [
        {
            "id": f"s{number}",
            "title": aspect.capitalize(),
            "question": f"{asked}, as to {aspect}? (part {number}: {aspect})",
            "purpose": f"The whole answer has to say something about {aspect}.",
            "expected_evidence": "statements in annual messages",
            "depends_on": [],
        }
        for number, aspect in enumerate(ASPECTS[: shape.subtasks], 1)
    ]
    return {"title": asked, "subtasks": subtasks}


def play_act(prompt: StubPrompt, shape: RunShape) -> Any:
    """Search anew first, then browse addresses that no search returned (a turn and no call each), then decide to finish."""
    turn = sum(message["role"] == "assistant" for message in prompt.messages)
    opening = "\n".join(message["content"] for message in prompt.messages[:2])
    found = PART.search(opening)
    part, aspect = (int(found.group(1)), found.group(2)) if found else (1, ASPECTS[0])
    if turn >= shape.turns_of(part) - 1:
        return {"thought": THOUGHT, "action": "finish", "inputs": []}
    number = turn
    if number >= shape.searches_of(part):
        return {"thought": f"Turn {turn + 1}. {THOUGHT}", "action": "browse", "inputs": [f"https://nowhere.example/{turn}"]}
    query = f"{aspect} {find_question(prompt)[:80]}" if number % 2 else f"{find_question(prompt)[:80]} {aspect}"
    return {
        "thought": f"Turn {turn + 1}. {THOUGHT}",
        "action": "search",
        "inputs": [f"{query} {number}" if number > 1 else query],
    }


def play_finding(prompt: StubPrompt, shape: RunShape) -> Any:
    """Tell sentences of the first passages, each cited, with a disagreement between two of them."""
    seen = model_stub_whole.list_shown(prompt)
    dice = prompt.make_dice()
    told = [(name, dice.choice(found)) for name, text in seen.items() if (found := SENTENCE.findall(text))][: shape.quotes]
    answer = " ".join(f"It was said that {text[:90].lower()} [{name}]." for name, text in told)
    conflict = {"about": "which of the two reasons came first", "passages": [name for name, _ in told[:2]]}
    return {"answer": answer, "passages": [], "gaps": ["what opponents replied"], "conflicts": [conflict]}


def play_second_round(_: StubPrompt, __: RunShape) -> Any:
    """Find nothing worth a second round."""
    return {"subtasks": []}


def play_outline(prompt: StubPrompt, shape: RunShape) -> Any:
    """Make one section for each aspect."""
    sections = [
        {"heading": aspect.capitalize(), "brief": f"What the sources say about {aspect}.", "parts": [], "passages": []}
        for aspect in ASPECTS[: shape.sections]
    ]
    return {"title": find_question(prompt).rstrip("?"), "sections": sections}


def play_text(prompt: StubPrompt, shape: RunShape) -> Any:
    """Write a paragraph for each passage, citing it: as a section, or as the whole report where no section is asked for.

    Over passages under other ids, the draft of a system that writes as it reads; None for any other free text.
    """
    found = PASSAGE.findall(prompt.last)
    paragraphs = [
        f"One message puts it in these words: “{' '.join(said.group().split())[:240]}” [{name}]. {THOUGHT}"
        for name, text in found
        if (said := SENTENCE.search(text))
    ]
    if not found:
        return model_stub_whole.write_draft(prompt)
    return "\n\n".join(paragraphs) if "\nYour section: " in prompt.last else _write_whole(prompt, shape, paragraphs)


def _write_whole(prompt: StubPrompt, shape: RunShape, paragraphs: list[str]) -> str:
    """Write the report: a summary, the paragraphs dealt out to sections in turn, a conclusion."""
    cited = list(dict.fromkeys(CITED.findall(" ".join(paragraphs))))
    text = [f"# {find_question(prompt).rstrip('?')}", f"## Summary\n\n{_sum_up(cited)}"]
    for at, aspect in enumerate(ASPECTS[: shape.sections]):
        own = paragraphs[at :: shape.sections]
        text += [f"## {aspect.capitalize()}", *own] if own else []
    return "\n\n".join([*text, f"## Conclusion\n\n{THOUGHT} [{cited[0]}]" if cited else ""])


def _sum_up(cited: list[str]) -> str:
    return " ".join(f"The sources give reason number {n} [{name}]." for n, name in enumerate(cited[:5], 1))


def play_critique(_: StubPrompt, __: RunShape) -> Any:
    """Find nothing to change."""
    return {"edits": [], "conflicts": []}


def play_consistency(prompt: StubPrompt, _: RunShape) -> Any:
    """Make no edits; write a summary and a conclusion that cite what the sections cite."""
    cited = list(dict.fromkeys(CITED.findall(prompt.last)))
    closing = f"{THOUGHT} [{cited[0]}]" if cited else THOUGHT
    return {"edits": [], "summary": _sum_up(cited), "conclusion": closing, "conflicts": []}


def find_question(prompt: StubPrompt) -> str:
    """Return the first question among the messages before the model's own, without its part."""
    for message in prompt.messages[:2]:
        if message["role"] == "user" and (found := QUESTION.search(message["content"])):
            return found.group().strip()
    return "What do the sources say?"


STEPS: dict[str, Callable[[StubPrompt, RunShape], Any]] = {
    "second_round": play_second_round,
    "intent": play_intent,
    "plan": play_plan,
    "act": play_act,
    "finding": play_finding,
    "outline": play_outline,
    "consistency": play_consistency,
    "critique": play_critique,
    "": play_text,
}
