"""Plays for the stub the systems that work a question as a whole: MaMs' three roles, ReAct's digest and draft.

MaMs looks `LOOKS` times, two searches each, and then finishes; its report gains a paragraph for each passage of a chunk.
"""

import re
from collections.abc import Callable
from typing import Any

from tests.support.model_stub_answers import StubPrompt

LOOKS = 3
SNIPPET = re.compile(r'<snippet id="(p\d+)"[^>]*>\n(.*?)\n</snippet>', re.DOTALL)
SENTENCE = re.compile(r"[A-Z][^.!?\n<>&]{30,320}[.!?]")
MEMORY = re.compile(r"<memory>\n(.*?)\n</memory>", re.DOTALL)
PLAN = re.compile(r"<plan>\n(.*?)\n</plan>", re.DOTALL)
REPORT = re.compile(r"<report>\n(.*?)\n</report>", re.DOTALL)
ASKED = re.compile(r"The question:\n(.+)|report on the question: (.+)")
ANGLES = ("reasons given", "what opponents said", "later judgement")
SAID_CHARS = 90
TOLD = re.compile(r"One source puts it so: (.+?) \[(p\d+)\]")


def play_look(prompt: StubPrompt) -> Any:
    """Look at one more angle of the question, until all have been looked at."""
    asked, done = _find_question(prompt), _find_tagged(PLAN, prompt).count("[x]")
    if done >= LOOKS:
        return {"plan": _write_plan(LOOKS), "thought": "All is settled.", "action": "finish", "inputs": []}
    queries = [f"{asked} {ANGLES[done]}", f"{ANGLES[done]}: {asked}"]
    return {"plan": _write_plan(done + 1), "thought": f"Next: {ANGLES[done]}.", "action": "search", "inputs": queries}


def play_remember(prompt: StubPrompt) -> Any:
    """Return the old memory, and a fact for each passage."""
    old = [line[2:] for line in _find_tagged(MEMORY, prompt).splitlines() if line.startswith("- ")]
    return {
        "memory": [*old, *(f"{text[:SAID_CHARS]} [{name}]" for name, text in _list_first_sentences(prompt))],
        "plan": _find_tagged(PLAN, prompt),
    }


def play_last_word(prompt: StubPrompt) -> Any:
    """Return the plan as it stands."""
    return {"plan": _find_tagged(PLAN, prompt)}


def write_draft(prompt: StubPrompt) -> Any:
    """Write the report so far with a paragraph for each passage that is shown; None where none is."""
    passages = _list_first_sentences(prompt)
    if not passages:
        return None
    report = _find_tagged(REPORT, prompt)
    opening = report if report.startswith("# ") else f"# {_find_question(prompt).rstrip('?')}\n\n## What the sources say"
    return "\n\n".join([opening, *(f"One source puts it so: {text} [{name}]" for name, text in passages)])


def list_shown(prompt: StubPrompt) -> dict[str, str]:
    """Return the text of each passage that was shown. One that is found again is only named there."""
    shown: dict[str, str] = {}
    for message in prompt.messages:
        for name, text in SNIPPET.findall(message["content"]):
            shown.setdefault(name, text)
    return shown


def _list_first_sentences(prompt: StubPrompt) -> list[tuple[str, str]]:
    """List each passage that is shown, with its first whole sentence; where only digests are shown, what they tell."""
    shown = list_shown(prompt)
    sentences = [(name, found.group()) for name, text in shown.items() if (found := SENTENCE.search(text))]
    digests = {name: text for message in prompt.messages for text, name in TOLD.findall(message["content"])}
    return sentences or list(digests.items())


def _write_plan(done: int) -> str:
    return "\n".join(f"- [{'x' if n < done else ' '}] {angle}" for n, angle in enumerate(ANGLES))


def _find_tagged(tag: re.Pattern[str], prompt: StubPrompt) -> str:
    found = tag.findall(prompt.last)
    return found[-1] if found else ""


def _find_question(prompt: StubPrompt) -> str:
    found = ASKED.search(prompt.last)
    return (found.group(1) or found.group(2)).strip() if found else "What do the sources say?"


STEPS: dict[str, Callable[[StubPrompt], Any]] = {
    "markov_search": play_look,
    "markov_state": play_remember,
    "markov_last": play_last_word,
}
