"""A model that works one question as MaMs, ReAct and DeepRubric's agent are asked to, and the run of it."""

import json
import re
from collections.abc import Callable

from app.domain.budget import AgentLimits
from app.domain.chat import ChatRequest
from app.domain.citations import MARKER, REMOVED
from app.domain.evidence import Passage, Source, snapshot_hash
from app.domain.query import Language, ResearchQuery, SystemName
from app.domain.report import Report
from tests.workflows.agent_kit import make_kit, make_record, step_of
from workflows.chat_models.scripted import ScriptedAnswer, ScriptedModel
from workflows.systems.agent_sets import AGENTS
from workflows.systems.local import LocalStages
from workflows.systems.local_record import LocalRecord
from workflows.systems.minddr import research
from workflows.systems.steering import PlanSteering

QUESTION = "Why were tariffs laid?"
IDS = re.compile(r'<snippet id="(p\d+)"')
ALONE = (SystemName.MAMS, SystemName.REACT, SystemName.DEEPRUBRIC)


def prompt_of(request: ChatRequest) -> str:
    return "\n".join(message.content for message in request.messages)


def answer_soundly(request: ChatRequest) -> ScriptedAnswer:
    """Search once, read, write a report that cites the first two passages of the prompt, and one that was invented."""
    prompt, step = prompt_of(request), step_of(request)
    ids = list(dict.fromkeys(IDS.findall(prompt)))
    if step == "markov_search":
        done = "[p1]" in prompt
        return json.dumps(
            {
                "plan": "- [x] reasons" if done else "- [ ] reasons",
                "thought": "",
                "action": "finish" if done else "search",
                "inputs": [] if done else ["tariff revenue", "tariff protection"],
            }
        )
    if step == "markov_state":
        return json.dumps({"memory": [f"Fact of {name} [{name}]" for name in ids], "plan": "- [x] reasons"})
    if step == "act":
        return json.dumps(
            {"thought": "", "action": "finish", "inputs": []}
            if "tool_response" in prompt.partition("=== ")[0] and len(request.messages) > 3
            else {"thought": "", "action": "search", "inputs": ["tariff revenue", "tariff protection"]}
        )
    if request.response_schema is not None:
        return json.dumps({"plan": "- [x] reasons"})
    return answer_in_text(prompt)


def answer_in_text(prompt: str) -> str:
    if "<think>" in prompt and "cite id" in prompt:
        if "The search is over" not in prompt:
            return (
                '<think>t</think><tool_call>{"name": "search", "arguments": {"query": "tariff revenue"}}</tool_call>'
                if "snippet" not in prompt
                else "<think>t</think><answer>done</answer>"
            )
        spans = '<cite id="p1">The tariff was to bring revenue.</cite> <cite id="p99">It was a king.</cite>'
        return f"<think>t</think><answer># Tariffs\n\n## Reasons\n\n{spans}</answer>"
    if "hand on what bears" in prompt:
        return "The tariff brought revenue [p1]; it protected makers [p2]."
    reasons = "The tariff was to bring revenue [p1], and to protect [p2, p99]."
    return f"# Tariffs\n\nIn short, revenue [p1].\n\n## Reasons\n\n{reasons}\n\n## References\n\n[p1] somewhere"


async def run_system(
    system: SystemName,
    script: Callable[[ChatRequest], ScriptedAnswer] = answer_soundly,
    record: LocalRecord | None = None,
    limits: AgentLimits | None = None,
    language: Language = Language.ENGLISH,
) -> tuple[Report, LocalRecord, ScriptedModel]:
    record, model = record or make_record(), ScriptedModel(script)
    kit = make_kit(model, record, limits=limits or AgentLimits(max_turns=6), language=language)
    query = ResearchQuery(question=QUESTION, system=system, language=language)
    report = await research(query, LocalStages(AGENTS[system], kit, record, query), PlanSteering())
    return report, record, model


def cited_keys_of(report: Report) -> set[str]:
    return {key for section in report.sections for key in MARKER.findall(section.body.replace(REMOVED, ""))}


def make_passage(text: str, number: int = 1) -> Passage:
    source = Source(url=f"https://example.org/{number}", title=f"Paper {number}", snapshot=snapshot_hash(text))
    return Passage(source=source, text=text, start=0, end=len(text))


def list_searches(record: LocalRecord) -> list[object]:
    """Return what was searched for, in order."""
    return [turn.call.arguments["query"] for turn in record.trajectory.turns if turn.call]
