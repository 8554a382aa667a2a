"""A model of modest sense: it answers each step from what the prompt shows, always the same way to the same request."""

import json
import re
from typing import Any

from app.domain.chat import ChatRequest

SNIPPET = re.compile(r'<snippet id="(p\d+)"[^>]*>\n(.*?)\n</snippet>', re.DOTALL)
PASSAGE = re.compile(r'<passage id="(q\d+)">\n(.*?)\n</passage>', re.DOTALL)
SUBTASK = re.compile(r"Your subtask: [^\n]*\n([^\n]*)")
SENTENCE = re.compile(r"[^.!?。]{20,}[.!?。]")


def answer_sensibly(request: ChatRequest) -> str:
    """Answer one request."""
    prompt = "\n".join(m.content for m in request.messages)
    name = request.response_schema.name if request.response_schema else "section"
    answer = STEPS[name](prompt, request)
    return answer if isinstance(answer, str) else json.dumps(answer)


def answer_intent(prompt: str, _: ChatRequest) -> Any:
    return {
        "goal": "know the reasons",
        "must_cover": ["revenue", "protection"],
        "scope": "",
        "form": "",
        "interpretations": [],
        "key_terms": [],
    }


def answer_plan(prompt: str, _: ChatRequest) -> Any:
    parts = ["tariff and revenue of the treasury", "tariff and domestic manufactures", "tariff and prices and wages of labor"]
    subtasks = [
        {"id": f"s{i}", "title": p, "question": f"{p}?", "purpose": "", "expected_evidence": "", "depends_on": []}
        for i, p in enumerate(parts, 1)
    ]
    return {"title": "Why tariffs", "subtasks": subtasks}


def answer_act(prompt: str, request: ChatRequest) -> Any:
    found = SUBTASK.search(prompt)
    subtask = found.group(1) if found else "tariff"
    turn = len(request.messages)
    if turn < 4:
        return {"thought": "begin", "action": "search", "inputs": [subtask, f"{subtask.split()[-1]} law"]}
    if turn < 6 and SNIPPET.search(prompt):
        return {"thought": "read on", "action": "browse", "inputs": ["p1"]}
    return {"thought": "enough", "action": "finish", "inputs": []}


def answer_finding(prompt: str, _: ChatRequest) -> Any:
    ids = list(dict(SNIPPET.findall(prompt)))
    conflicts = [{"about": "what it was for", "passages": ids[:2]}] if len(ids) > 1 else []
    return {"answer": f"It had reasons [{', '.join(ids)}].", "passages": [], "gaps": ["figures"], "conflicts": conflicts}


def answer_second_round(prompt: str, _: ChatRequest) -> Any:
    return {"subtasks": []}


def answer_outline(prompt: str, _: ChatRequest) -> Any:
    parts = re.findall(r"^## (s\d+): (.*)$", prompt, re.MULTILINE)
    return {"title": "Reasons for tariffs", "sections": [{"heading": f"On {t}", "brief": t, "parts": []} for _, t in parts]}


def answer_section(prompt: str, _: ChatRequest) -> Any:
    """Write a section, or the whole report where no section is named."""
    said = [
        f"The message says so: {s.group()} [{short}]" for short, text in PASSAGE.findall(prompt) if (s := SENTENCE.search(text))
    ]
    if "Your section:" in prompt:
        return "\n\n".join(said)
    return "\n\n".join(["# Reasons for tariffs", "## Summary", said[0], "## What the messages say", *said])


def answer_critique(prompt: str, _: ChatRequest) -> Any:
    return {"edits": [], "conflicts": []}


def answer_consistency(prompt: str, _: ChatRequest) -> Any:
    ids = list(dict.fromkeys(re.findall(r"\[(q\d+)\]", prompt.partition("<report>")[2])))
    return {"edits": [], "summary": f"In short [{ids[0]}].", "conclusion": f"It follows [{ids[-1]}].", "conflicts": []}


STEPS = {
    "intent": answer_intent,
    "plan": answer_plan,
    "act": answer_act,
    "finding": answer_finding,
    "second_round": answer_second_round,
    "outline": answer_outline,
    "section": answer_section,
    "consistency": answer_consistency,
    "critique": answer_critique,
}
