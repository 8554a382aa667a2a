"""Carrying out an action: all its calls run at once, no call is repeated, and only addresses that a search returned are read."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from app.domain.chat import Message, ToolCall, ToolResult
from app.domain.evidence import Passage
from workflows.agents.actions import ActionName, AgentAct
from workflows.agents.concurrency import settle_all
from workflows.agents.foreign_tools import arguments_of, is_foreign_tool
from workflows.agents.kit import Kit
from workflows.agents.notebook import Notebook
from workflows.agents.observation import Observation, ObservedCall
from workflows.agents.ports import BudgetSpent
from workflows.agents.private_words import PrivateWords
from workflows.agents.tool_use import use_tool
from workflows.agents.wording import say

_PART = re.compile(r"^(.*?)[\s#]+part[\s=]+(\d{1,4})$", re.IGNORECASE | re.DOTALL)
CallOutcome: TypeAlias = ToolResult | BaseException


@dataclass
class ToolHands:
    """One agent's use of its tools: the passages it has seen, the calls it has made, and their number."""

    kit: Kit
    agent: str
    notebook: Notebook
    calls: int = 0
    repetitions: int = 0
    _asked: dict[str, "_AnsweredCall"] = field(default_factory=dict)
    _refused: set[str] = field(default_factory=set)
    _private: PrivateWords = field(init=False)
    _given: list[Mapping[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._private = PrivateWords(self.kit.memory.entries)

    def count_repetition(self, act: AgentAct) -> int:
        """Return how many actions have asked only what was answered or refused before, this one included; 0 if it asks anew.

        Who asks for the passages that were left out of a list asks anew.
        """
        planned = self._plan_calls(act)[0]
        known = self._asked.keys() | self._refused
        if not planned or any(one.call is not None or one.rest or one.key not in known for one in planned):
            return 0
        self.repetitions += 1
        return self.repetitions

    async def carry_out(self, act: AgentAct) -> tuple[Message, BudgetSpent | None]:
        """Carry out an action. Return the observation, and the end of the budget if it came meanwhile.

        Results that arrived before the end of the budget are in the observation.

        Raises:
            Exception: any error that halts the run, once all calls have ended.
        """
        planned, remarks = self._plan_calls(act)
        new = [p for p in planned if p.call is not None]
        answers = await settle_all([self._use_tool(p.call) for p in new if p.call], max(1, len(new)))
        self.calls += len(new)
        self._given += [p.arguments for p in planned]
        for answer in answers:
            if isinstance(answer, BaseException) and not isinstance(answer, BudgetSpent):
                raise answer
        return self._make_observation(planned, answers, remarks), next((a for a in answers if isinstance(a, BudgetSpent)), None)

    def _plan_calls(self, act: AgentAct) -> tuple[list["_PlannedCall"], list[str]]:
        """Return the calls that the action asks for, within this agent's limits, and remarks about what is left out."""
        language, wanted = self.kit.language, act.clean_inputs()
        allowed = min(self.kit.bounds.queries_per_action, self.kit.limits.max_tool_calls - self.calls)
        if act.action not in self.kit.tools:
            key = _fold_key(act.action, *wanted)
            return [_PlannedCall(act.action, " ".join(wanted), key, notice=say("no_such_tool", language))], []
        if not wanted:
            return [_PlannedCall(act.action, "", _fold_key(act.action), notice=say("no_input", language))], []
        over = len(wanted) - allowed
        remarks = [say("too_many", language, n=allowed, left=over)] if over > 0 else []
        return self._plan_distinct(act.action, wanted[:allowed]), remarks

    def _plan_distinct(self, action: str, wanted: tuple[str, ...]) -> list["_PlannedCall"]:
        planned: list[_PlannedCall] = []
        keys: set[str] = set()
        given = list(self._given)
        for said in wanted:
            one = self._plan_page(said) if action is ActionName.BROWSE else self._plan_query(action, said, given)
            given.append(one.arguments)
            if one.key not in keys:
                planned.append(one)
            keys.add(one.key)
        return planned

    def _plan_query(self, action: str, said: str, given: Sequence[Mapping[str, Any]]) -> "_PlannedCall":
        foreign = is_foreign_tool(action)
        arguments = arguments_of(self.kit.tools[action], said) if foreign else {"query": said}
        call = ToolCall(name=str(action), arguments=arguments)
        planned = replace(self._plan_unless_asked(action, said, call), arguments=arguments)
        if planned.call is None or not self._private.are_repeated(arguments, action, given):
            return planned
        if foreign:
            return replace(planned, call=None, notice=say("repeats_private", self.kit.language))
        return replace(planned, call=ToolCall(name=str(action), arguments={**arguments, "inside": True}))

    def _plan_page(self, said: str) -> "_PlannedCall":
        """Plan to read the part that is named, else the one in which the passage stands that is named, else the first."""
        found = _PART.match(said)
        named = found.group(1) if found else said
        address = self.notebook.find_address(named)
        if address is None:
            notice = say("made_up_address", self.kit.language)
            return _PlannedCall(ActionName.BROWSE, said, key=_fold_key(said), notice=notice)
        arguments: dict[str, Any] = {"url": address}
        if found and (part := int(found.group(2))) > 1:
            arguments["part"] = part
        elif not found and (passage := self.notebook.find_passage(named)) and passage.start:
            arguments["at"] = passage.start
        return self._plan_unless_asked(ActionName.BROWSE, address, ToolCall(name=ActionName.BROWSE.value, arguments=arguments))

    def _plan_unless_asked(self, action: str, said: str, call: ToolCall) -> "_PlannedCall":
        key = _fold_key(action, *(f"{name} {value}" for name, value in call.arguments.items()))
        before = self._asked.get(key)
        if before is None:
            return _PlannedCall(action, said, key, call)
        if rest := tuple(p for p in before.passages if not self.notebook.holds(p.key)):
            return _PlannedCall(action, said, key, rest=ToolResult(passages=rest))
        ids = ", ".join(before.ids) or say("none", self.kit.language)
        return _PlannedCall(action, said, key, notice=say("asked_before", self.kit.language, ids=ids))

    async def _use_tool(self, call: ToolCall) -> ToolResult:
        return await use_tool(self.kit, self.agent, call)

    def _make_observation(self, planned: list["_PlannedCall"], answers: list[CallOutcome], remarks: list[str]) -> Message:
        results = iter(answers)
        outcomes = [(one, next(results) if one.call is not None else one.rest) for one in planned]
        observed = [(one, self._take_result(one, result)) for one, result in outcomes if not isinstance(result, BaseException)]
        calls = [ObservedCall(str(one.action), one.said, result, one.notice) for one, result in observed]
        observation = Observation(self.notebook, self.kit.language, self.kit.bounds.observation_chars, calls)
        for (one, result), ids in zip(observed, observation.ids, strict=True):
            self._note_answer(one, result, ids)
        return observation.to_message(*remarks)

    def _take_result(self, one: "_PlannedCall", result: ToolResult | None) -> ToolResult | None:
        """Return a result as the agent sees it, once its suspicious sources and its private words are noted."""
        if result is None:
            return None
        for suspicion in result.suspicious:
            self.notebook.mark_suspect(suspicion.url, suspicion.patterns)
        if one.action == ActionName.BROWSE:
            result = self._complete_sources(result, one.said)
        self._private.add_passages(result.passages)
        return result

    def _note_answer(self, one: "_PlannedCall", result: ToolResult | None, ids: tuple[str, ...]) -> None:
        """Note what was answered or refused. A call that failed may be tried again."""
        if one.call is None and one.key not in self._asked:
            self._refused.add(one.key)
        if one.call is not None and result is not None and not result.error:
            self._asked[one.key] = _AnsweredCall(result.passages, ids)
        elif one.rest is not None:
            before = self._asked[one.key]
            self._asked[one.key] = replace(before, ids=before.ids + ids)

    def _complete_sources(self, read: ToolResult, address: str) -> ToolResult:
        """Complete the sources of a page: it seldom says that its paper was retracted, the search that led there may have."""
        passages = tuple(
            passage.model_copy(update={"source": self.notebook.complete_source(passage.source, address)})
            for passage in read.passages
        )
        return read.model_copy(update={"passages": passages})


def make_plain_search(kit: Kit, question: str) -> AgentAct:
    """Return a search for the question itself, for a model that finishes before it has searched or cannot act."""
    action = next((a for a in (ActionName.SEARCH, ActionName.SCHOLAR) if a in kit.tools), ActionName.SEARCH)
    return AgentAct(action=action, inputs=(question,))


@dataclass(frozen=True, slots=True)
class _PlannedCall:
    """One input of an action: a call to make, or instead of it a notice, or the `rest` of an answer that was too long to show.

    `arguments` are what a service outside would be told.
    """

    action: str
    said: str
    key: str = ""
    call: ToolCall | None = None
    notice: str = ""
    rest: ToolResult | None = None
    arguments: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _AnsweredCall:
    """What a call found, and the ids of those passages that were shown."""

    passages: tuple[Passage, ...]
    ids: tuple[str, ...]


def _fold_key(*words: str) -> str:
    """Return a call's key, which ignores case, white space, Unicode form and final punctuation."""
    return "\x1f".join(" ".join(unicodedata.normalize("NFKC", w).casefold().split()).rstrip("?.!？。！") for w in words)
