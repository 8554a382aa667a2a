"""The one decision a deep-search agent makes each turn: a tool with its inputs, or the end (DeepRubric appendix D)."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from enum import StrEnum
from typing import Any

from pydantic import Field, model_validator

from workflows.agents.foreign_tools import ForeignToolName, as_inputs, is_foreign_tool
from workflows.agents.parsing import find_json_values, parse_leniently, read_answer_tag
from workflows.agents.steps import A, Step, StepAnswer, declare_step, outline_of

MAX_INPUT_CHARS = 600
MAX_OBJECT_CHARS = 6_000
FINISH_NAMES = ("answer", "final", "final_answer", "finished", "done", "stop", "end", "report")
_TOOL_CALL = re.compile(r"<tool_call>(.*?)(?:</tool_call>|(?=<tool_call>)|\Z)", re.DOTALL | re.IGNORECASE)
_FUNCTION = re.compile(r"<function=([\w-]+)>(.*?)(?:</function>|\Z)", re.DOTALL)
_PARAMETER = re.compile(r"<parameter=([\w-]+)>(.*?)(?:</parameter>|\Z)", re.DOTALL)
_NAMED_TAG = re.compile(r"<(search|scholar|browse)>(.*?)(?:</\1>|\Z)", re.DOTALL)
_LISTED = re.compile(r"\[TOOL_CALLS\]\s*(\[.*)", re.DOTALL)
_CALL_KEYS = ("arguments", "parameters", "args", "input", "tool_input")
_NAME_KEYS = ("name", "tool", "tool_name", "function")


class ActionName(StrEnum):
    """What an agent may do next."""

    SEARCH = "search"
    SCHOLAR = "scholar"
    BROWSE = "browse"
    FINISH = "finish"


class AgentAct(StepAnswer):
    """One turn's thought and action. `inputs` are queries, or addresses to browse; empty to finish."""

    thought: str = Field(default="", description="what is known, what is missing, why this action comes next")
    action: ActionName | ForeignToolName = Field(default=ActionName.FINISH, description="the next action")
    inputs: tuple[str, ...] = Field(default=(), description="queries to search, or addresses to browse; empty to finish")

    @model_validator(mode="before")
    @classmethod
    def _accept_other_names(cls, data: Any) -> Any:
        if isinstance(data, list) and data and isinstance(data[0], dict):
            data = data[0]
        if not isinstance(data, dict):
            return data
        if len(data) == 1 and isinstance(inner := next(iter(data.values())), dict) and "action" in inner:
            data = inner
        if isinstance(data.get("action"), str):
            return _set_known_action(data)
        call = data["action"] if isinstance(data.get("action"), dict) else data
        act = _from_call(call)
        return {"thought": data.get("thought", ""), **act} if act else data

    def clean_inputs(self) -> tuple[str, ...]:
        """Return the inputs stripped, without empty and repeated ones."""
        longest = MAX_OBJECT_CHARS if is_foreign_tool(self.action) else MAX_INPUT_CHARS
        return tuple(dict.fromkeys(i.strip()[:longest] for i in self.inputs if i.strip()))


def _set_known_action(data: dict[str, Any]) -> dict[str, Any]:
    others = {k: v for k, v in data.items() if k not in ("action", "thought", "inputs")}
    given = data.get("inputs")
    inputs = as_inputs(given or others) if is_foreign_tool(data["action"]) else given or _inputs_of(others)
    return {**data, "action": _resolve_action(data["action"], inputs), "inputs": inputs or []}


def _resolve_action(action: str, inputs: Any) -> str:
    """Return the action of this name. An unknown action with inputs is a search; without inputs it is the end."""
    named = action.strip().lower()
    if is_foreign_tool(named) or named in tuple(ActionName):
        return named
    return ActionName.SEARCH if inputs and named not in FINISH_NAMES else ActionName.FINISH


def _from_call(call: Mapping[str, Any]) -> dict[str, Any] | None:
    """Read an act from `{"name": ..., "arguments": {...}}` in one of its spellings."""
    name = next((call[k] for k in _NAME_KEYS if isinstance(call.get(k), str)), None)
    if name is None:
        return None
    arguments: Any = next((call[k] for k in _CALL_KEYS if k in call), {})
    if isinstance(arguments, str):
        parsed = parse_leniently(arguments)
        arguments = parsed if isinstance(parsed, dict) else {"query": arguments}
    if isinstance(arguments, dict) and isinstance(arguments.get("action"), str):
        return _set_known_action(arguments)  # the form itself, called as a tool
    inputs = as_inputs(arguments) if is_foreign_tool(name) else _inputs_of(arguments)
    return {"action": _resolve_action(name, inputs), "inputs": inputs}


def _inputs_of(arguments: Any) -> list[str]:
    if isinstance(arguments, list):
        return [str(a) for a in arguments if isinstance(a, str | int | float)]
    if not isinstance(arguments, dict):
        return []
    part = arguments.get("part")
    suffix = f" part {part}" if isinstance(part, int) and part > 1 else ""
    named = (v for k, v in arguments.items() if k != "part")
    return [text + suffix for value in named for text in ([value] if isinstance(value, str) else _inputs_of(value))]


def read_tagged_act(said: str) -> Mapping[str, Any] | None:
    """Read an act from tagged notations. Return None where there is none, so that plain JSON is tried next."""
    calls = [*_find_tagged_calls(said)]
    acts = [act for call in calls if (act := _from_call(call))]
    if acts:
        inputs = [i for act in acts if act["action"] == acts[0]["action"] for i in act["inputs"]]
        return {"thought": acts[0].get("thought") or _text_before_tag(said), "action": acts[0]["action"], "inputs": inputs}
    inside = read_answer_tag(said)
    if inside is None or any("action" in v or "name" in v for v in find_json_values(inside)):
        return None
    return {"thought": _text_before_tag(said), "action": ActionName.FINISH, "inputs": []}


def _text_before_tag(said: str) -> str:
    return said.partition("<")[0].strip()


def _find_tagged_calls(said: str) -> Iterable[Mapping[str, Any]]:
    for block in _TOOL_CALL.findall(said):
        yield from (v for v in find_json_values(block) if isinstance(v, dict))
    for name, body in _FUNCTION.findall(said):
        parameters = dict(_PARAMETER.findall(body))
        yield {"name": name, "arguments": {k: v.strip() for k, v in parameters.items()} if parameters else body}
    for name, body in _NAMED_TAG.findall(said):
        yield {"name": name, "arguments": {"query": body.strip()}}
    for listed in _LISTED.findall(said):
        value = parse_leniently(listed)
        yield from (v for v in value if isinstance(v, dict)) if isinstance(value, list) else ()


_ACT = declare_step("act", AgentAct, max_tokens=1_500, loose=read_tagged_act, form="form_act_tags", spare=["thought"])


def make_act_step(tools: frozenset[str]) -> Step[AgentAct]:
    """Return the act step for a kit that has only these tools."""
    return offer_tools(_ACT, tools)


def offer_tools(whole: Step[A], tools: frozenset[str]) -> Step[A]:
    """Return a step whose schema offers these tools as `action`, and no others."""
    schema = {**whole.schema.schema_, "properties": {**whole.schema.schema_["properties"]}}
    offered = [name.value for name in ActionName if name in tools or name is ActionName.FINISH]
    offered += sorted(filter(is_foreign_tool, tools))
    described = schema["properties"]["action"]["description"]
    schema["properties"]["action"] = {"type": "string", "enum": offered, "description": described}
    named = whole.schema.model_copy(update={"schema_": schema})
    return replace(whole, schema=named, outline=outline_of(schema))
