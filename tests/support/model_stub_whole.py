"""Plays for the stub the systems that work a question as a whole: MaMs' three roles, ReAct's digest and draft.

MaMs looks `LOOKS` times, two searches each, and then finishes; its report gains a paragraph for each passage of a chunk.
"""

import re
from collections.abc import Callable
from typing import Any

from tests.support.model_stub_answers import Prompt

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


def look(prompt: Prompt) -> Any:
    """Look at one more angle of the question, until all have been looked at."""
    asked, done = _question(prompt), _inside(PLAN, prompt).count("[x]")
    if done >= LOOKS:
        return {"plan": _plan(LOOKS), "thought": "All is settled.", "action": "finish", "inputs": []}
    queries = [f"{asked} {ANGLES[done]}", f"{ANGLES[done]}: {asked}"]
    return {"plan": _plan(done + 1), "thought": f"Next: {ANGLES[done]}.", "action": "search", "inputs": queries}


def remember(prompt: Prompt) -> Any:
    """Return the old memory, and a fact for each passage."""
    old = [line[2:] for line in _inside(MEMORY, prompt).splitlines() if line.startswith("- ")]
    return {"memory": [*old, *(f"{text[:SAID_CHARS]} [{name}]" for name, text in _said(prompt))], "plan": _inside(PLAN, prompt)}


def last_word(prompt: Prompt) -> Any:
    """Return the plan as it stands."""
    return {"plan": _inside(PLAN, prompt)}


def draft(prompt: Prompt) -> Any:
    """Write the report so far with a paragraph for each passage that is shown; None where none is."""
    passages = _said(prompt)
    if not passages:
        return None
    report = _inside(REPORT, prompt)
    opening = report if report.startswith("# ") else f"# {_question(prompt).rstrip('?')}\n\n## What the sources say"
    return "\n\n".join([opening, *(f"One source puts it so: {text} [{name}]" for name, text in passages)])


def _said(prompt: Prompt) -> list[tuple[str, str]]:
    """List each passage that is shown, with its first whole sentence; where only digests are shown, what they tell."""
    shown = {name: text for message in prompt.messages for name, text in SNIPPET.findall(message["content"])}
    sentences = [(name, found.group()) for name, text in shown.items() if (found := SENTENCE.search(text))]
    digests = {name: text for message in prompt.messages for text, name in TOLD.findall(message["content"])}
    return sentences or list(digests.items())


def _plan(done: int) -> str:
    return "\n".join(f"- [{'x' if n < done else ' '}] {angle}" for n, angle in enumerate(ANGLES))


def _inside(tag: re.Pattern[str], prompt: Prompt) -> str:
    found = tag.findall(prompt.last)
    return found[-1] if found else ""


def _question(prompt: Prompt) -> str:
    found = ASKED.search(prompt.last)
    return (found.group(1) or found.group(2)).strip() if found else "What do the sources say?"


STEPS: dict[str, Callable[[Prompt], Any]] = {"markov_search": look, "markov_state": remember, "markov_last": last_word}
