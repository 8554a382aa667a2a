"""Showing the results of an action to the model: passages under short ids, marked as data, limited in length."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from typing import NamedTuple

from app.domain.chat import ChatRole, Message, ToolResult
from app.domain.evidence import Passage
from app.domain.query import Language
from workflows.agents.notebook import Notebook
from workflows.agents.untrusted import as_attribute, as_source
from workflows.agents.wording import say

PASSAGE_CHARS = 1_600
MIN_SHOWN = 200
FRAME_CHARS = 40
"""The tags around a passage, its id and the ends of lines."""


@dataclass(frozen=True, slots=True)
class ObservedCall:
    """One call as the model sees it: its heading (tool and input), and a result or a notice."""

    tool: str
    said: str
    result: ToolResult | None = None
    notice: str = ""


class Observation:
    """The observation of an action: the results of its calls, which share `chars` characters.

    The calls take turns, each with its next best passage, so that a long list leaves room for the others; the text of a passage
    that several of them found takes its room once. Only passages that are shown enter the notebook. `ids` are those of each call.
    """

    def __init__(self, notebook: Notebook, language: Language, chars: int, calls: Sequence[ObservedCall]) -> None:
        self._notebook = notebook
        self._language = language
        heads = [self._write_head(call) for call in calls]
        found = [_list_found(call) for call in calls]
        self._share = _share_room(found, notebook, chars - len("\n".join(chain(*heads))))
        self._lines: list[str] = []
        self.ids = [self._add_call(*one) for one in zip(found, heads, self._share.chosen, strict=True)]

    def to_message(self, *remarks: str) -> Message:
        """Return the observation as a user message. Remarks are ours and stand outside the delimiters."""
        shown = "\n".join(self._lines)
        tail = "".join(f"\n{remark}" for remark in remarks if remark)
        message = Message(role=ChatRole.USER, content=f"<tool_response>\n{shown}\n</tool_response>{tail}")
        return self._notebook.name_passages([message])[-1]

    def _write_head(self, call: ObservedCall) -> list[str]:
        """Return the lines above the passages of a call."""
        lines = [f"{call.tool}: {as_attribute(call.said)}", call.notice]
        if call.result is not None and call.result.error:
            lines.append(say("failed", self._language, error=as_attribute(call.result.error)))
        elif call.result is not None and not call.result.passages:
            lines.append(say("nothing_found", self._language))
        if call.result is not None:
            lines.append(as_attribute(call.result.note))
        return [line for line in lines if line]

    def _add_call(
        self, found: Sequence["_FoundPassage"], head: Sequence[str], chosen: Sequence["_ChosenPassage"]
    ) -> tuple[str, ...]:
        """Add one call and return the ids of its passages. What no call of the action shows is counted as left out."""
        left_out = sum(each.key not in self._share.chars and not self._notebook.holds(each.key) for each in found)
        self._lines += head
        ids = tuple(map(self._add_passage, chosen))
        if left_out:
            self._lines.append(say("left_out", self._language, n=left_out))
        return ids

    def _add_passage(self, chosen: "_ChosenPassage") -> str:
        (key, passage), attributes = chosen
        short, is_new = self._notebook.add_passage(passage)
        text = as_source(passage.text[: self._share.chars[key]]) if is_new else say("shown_above", self._language)
        self._lines.append(f'<snippet id="{short}" {attributes}>\n{text}\n</snippet>')
        return short


class _FoundPassage(NamedTuple):
    """A passage that a call found, and its key, which takes time to compute."""

    key: str
    passage: Passage


class _ChosenPassage(NamedTuple):
    """A passage to show, with its attributes."""

    found: _FoundPassage
    attributes: str


class _RoomShare(NamedTuple):
    """The passages that each call shows, and how many characters of text each of them has, by its key."""

    chosen: tuple[list[_ChosenPassage], ...]
    chars: dict[str, int]


def _share_room(found: Sequence[Sequence[_FoundPassage]], notebook: Notebook, left: int) -> _RoomShare:
    """Share `left` characters between the passages of several lists, rank by rank."""
    share = _RoomShare(tuple([] for _ in found), {})
    for call, (key, passage) in ((i, p) for rank in zip_longest(*found) for i, p in enumerate(rank) if p is not None):
        if left < MIN_SHOWN:
            break
        is_shown = key in share.chars or notebook.holds(key)
        text = 0 if is_shown else min(PASSAGE_CHARS, len(passage.text), left)
        chosen = _ChosenPassage(_FoundPassage(key, passage), attributes_of(passage))
        share.chosen[call].append(chosen)
        share.chars.setdefault(key, text)
        left -= text + len(chosen.attributes) + FRAME_CHARS
    return share


def _list_found(call: ObservedCall) -> list[_FoundPassage]:
    return [_FoundPassage(passage.key, passage) for passage in (call.result.passages if call.result is not None else ())]


def make_fault_observation(language: Language, problem: str) -> Message:
    """Return the observation that answers an action in a wrong form."""
    told = say("action_refused", language, problem=as_attribute(problem))
    return Message(role=ChatRole.USER, content=f"<tool_response>\n{told}\n</tool_response>")


def attributes_of(passage: Passage) -> str:
    """Return title, date and address of a passage's source as attributes."""
    source = passage.source
    date = f' date="{source.published.isoformat()}"' if source.published else ""
    return f'title="{as_attribute(source.title)}"{date} url="{as_attribute(source.url, 600)}"'
