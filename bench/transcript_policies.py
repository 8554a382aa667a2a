"""Scripted policies of `bench.transcripts`: an obedient one, and twelve that each disobey in one way, in tags and by a schema."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum

from app.domain.chat import ChatRequest

SUPPORTED = "The tariff of 1824 was meant to protect domestic manufactures."
HALF_SUPPORTED = "The surplus in the treasury grew."
Act = tuple[str, str, list[str]]
SEARCH: Act = ("search", "query", ["tariff revenue", "tariff protection"])
FINISH: Act = ("finish", "", [])
_FORM = "First think inside"
_JSON_ASKED = "one JSON object with exactly these fields"
_TEXT_ASKED = "the Markdown text, and only it"


class Kind(StrEnum):
    """What a request asks for: the next act, an answer in JSON, or a text."""

    ACT = "act"
    JSON = "json"
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class AskedOutput:
    """A request as a policy reads it: its kind, whether it wants tags and spans, and the JSON fields by their step."""

    kind: Kind
    tags: bool
    spans: bool
    step: str
    plan: bool


Spoil = Callable[[str, AskedOutput], str]


def keep(text: str, _: AskedOutput) -> str:
    """Change nothing."""
    return text


@dataclass
class Policy:
    """A script: its acts in order (the last one again and again), its report, and what it does to each output.

    `raw` stands for the first act, in tags and by a schema. `cited` are the ids behind the two statements of its report.
    """

    name: str
    acts: tuple[Act, ...] = (SEARCH, FINISH)
    cited: tuple[str, str] = ("p1", "p2")
    thinks: bool = True
    raw: tuple[str, str] | None = None
    report: str | None = None
    spoil: Spoil = keep
    _taken: int = field(default=0, init=False)

    def write(self, request: ChatRequest) -> str:
        """Write the output that the request asks for."""
        asked = read_request(request)
        if asked.kind is Kind.ACT:
            self._taken += 1
            if self.raw and self._taken == 1:
                return self.raw[0 if asked.tags else 1]
            text = self._write_act(self.acts[min(self._taken, len(self.acts)) - 1], asked)
        elif asked.kind is Kind.JSON:
            text = self._wrap(self._write_json(asked), asked)
        else:
            text = self._wrap(self._write_report(asked), asked)
        return self.spoil(text, asked)

    def _write_act(self, act: Act, asked: AskedOutput) -> str:
        name, argument, inputs = act
        if not asked.tags:
            fields = {"thought": "t" if self.thinks else "", "action": name, "inputs": inputs}
            return json.dumps(({"plan": "- [ ] reasons"} if asked.plan else {}) | fields)
        call = json.dumps({"name": name, "arguments": {argument: inputs}})
        done = "<answer>It was for revenue.</answer>" if act == FINISH else f"<tool_call>{call}</tool_call>"
        return self._think() + ("<plan>- [ ] reasons</plan>" if asked.plan else "") + done

    def _write_json(self, asked: AskedOutput) -> str:
        if asked.step == "state":
            return json.dumps({"memory": ["Protection [p1]"], "plan": "- [x] reasons"})
        return json.dumps({"answer": "Protection [p1].", "passages": [], "gaps": [], "conflicts": []})

    def _write_report(self, asked: AskedOutput) -> str:
        if self.report is not None:
            return self.report
        ids = [name.split(",") for name in self.cited]
        if asked.spans:
            spans = [
                f'<cite id="{",".join(of)}">{text}</cite>' for text, of in zip((SUPPORTED, HALF_SUPPORTED), ids, strict=True)
            ]
            return f"# Tariffs\n\n{' '.join(spans)}"
        marked = [f"{text[:-1]} [{', '.join(of)}]." for text, of in zip((SUPPORTED, HALF_SUPPORTED), ids, strict=True)]
        return f"# Tariffs\n\n{' '.join(marked)}"

    def _wrap(self, answer: str, asked: AskedOutput) -> str:
        return f"{self._think()}<answer>{answer}</answer>" if asked.tags else answer

    def _think(self) -> str:
        return "<think>t</think>" if self.thinks else ""


def read_request(request: ChatRequest) -> AskedOutput:
    """Tell what a request asks for, from its schema or from the words of its form."""
    said = [message.content for message in request.messages]
    schema = request.response_schema.name if request.response_schema else ""
    form = next((text for text in reversed(said) if _FORM in text), "")
    whole = "\n".join(said)
    if form:
        kind = Kind.TEXT if _TEXT_ASKED in form else Kind.JSON if _JSON_ASKED in form else Kind.ACT
    else:
        kind = Kind.ACT if schema in ("act", "markov_search") else Kind.JSON if schema else Kind.TEXT
    state = schema == "markov_state" or (bool(form) and '"memory"' in form)
    plan = schema == "markov_search" or "inside <plan>" in form
    return AskedOutput(kind, bool(form), 'cite id="' in (form or whole) and "span" in whole, "state" if state else "", plan)


def cut_end(text: str, _: AskedOutput) -> str:
    """Leave the closing tag out, or the closing bracket."""
    return re.sub(r"</\w+>$|\}$", "", text)


def chatter(text: str, _: AskedOutput) -> str:
    """Say something before each output."""
    return f"Sure. {text}"


def hide_report(text: str, asked: AskedOutput) -> str:
    """Write the report, and only it, inside the thought."""
    if asked.kind is Kind.ACT or asked.step == "state" or not asked.tags:
        return text
    return f"<think>{text.replace('<think>t</think>', '')}</think>"


def answer_twice(text: str, asked: AskedOutput) -> str:
    """Give the last answer twice."""
    return text if asked.kind is Kind.ACT else text + re.sub(r"^<think>.*?</think>", "", text)


def list_policies() -> list[Policy]:
    """Return the obedient policy first, then the twelve others."""
    same = ["tariff revenue", "Tariff revenue?", "revenue, tariffs"]
    return [
        Policy("obedient"),
        Policy("no thought", thinks=False),
        Policy("chatter", spoil=chatter),
        Policy("unclosed", spoil=cut_end),
        Policy(
            "broken call",
            acts=(SEARCH, SEARCH, FINISH),
            raw=("<think>t</think><tool_call>tariffs, please</tool_call>", "{tariffs"),
        ),
        Policy("unknown tool", acts=(("shell", "query", SEARCH[2]), FINISH)),
        Policy("one search in three dresses", acts=(("search", "query", same), FINISH)),
        Policy("the same call each turn", acts=(SEARCH,)),
        Policy("a made-up address", acts=(("browse", "url", ["https://made.up/page"]), SEARCH, FINISH)),
        Policy("no search", acts=(FINISH,)),
        Policy("a report in a thought", spoil=hide_report),
        Policy("every answer twice", spoil=answer_twice),
        Policy("a heap of ids", cited=("p1,p2,p3,p99", "p1,p2,p3,p99")),
    ]
