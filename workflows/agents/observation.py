"""Showing the results of an action to the model: passages under short ids, marked as data, limited in length."""

from dataclasses import dataclass

from app.domain.chat import ChatRole, Message, ToolResult
from app.domain.evidence import Passage
from app.domain.query import Language
from workflows.agents.notebook import Notebook
from workflows.agents.untrusted import as_attribute, as_source
from workflows.agents.wording import say

PASSAGE_CHARS = 1_600
MIN_SHOWN = 200


@dataclass(frozen=True, slots=True)
class ObservedCall:
    """One call as the model sees it: its heading (tool and input), and a result or a notice."""

    tool: str
    said: str
    result: ToolResult | None = None
    notice: str = ""


class Observation:
    """One observation under construction, at most `chars` long. Only passages that are shown enter the notebook."""

    def __init__(self, notebook: Notebook, language: Language, chars: int) -> None:
        self._notebook = notebook
        self._language = language
        self._left = chars
        self._lines: list[str] = []
        self.ids: list[str] = []

    def add_call(self, observed: ObservedCall) -> tuple[str, ...]:
        """Add one call's results and return the ids of its passages."""
        first = len(self.ids)
        self._add_line(f"{observed.tool}: {as_attribute(observed.said)}")
        if observed.notice:
            self._add_line(observed.notice)
        if observed.result is not None:
            self._add_results(observed.result)
        return tuple(self.ids[first:])

    def to_message(self, *remarks: str) -> Message:
        """Return the observation as a user message. Remarks are ours and stand outside the delimiters."""
        shown = "\n".join(self._lines)
        tail = "".join(f"\n{remark}" for remark in remarks if remark)
        message = Message(role=ChatRole.USER, content=f"<tool_response>\n{shown}\n</tool_response>{tail}")
        return self._notebook.name_passages([message])[-1]

    def _add_results(self, result: ToolResult) -> None:
        if result.error:
            self._add_line(say("failed", self._language, error=as_attribute(result.error)))
        elif not result.passages:
            self._add_line(say("nothing_found", self._language))
        if result.note:
            self._add_line(as_attribute(result.note))
        left_out = sum(not self._add_passage(passage) for passage in result.passages)
        if left_out:
            self._add_line(say("left_out", self._language, n=left_out))

    def _add_passage(self, passage: Passage) -> bool:
        """Show a passage if there is room for it."""
        if self._left < MIN_SHOWN:
            return False
        short, is_new = self._notebook.add_passage(passage)
        self.ids.append(short)
        text = as_source(passage.text[: min(PASSAGE_CHARS, self._left)]) if is_new else say("shown_above", self._language)
        self._add_line(f'<snippet id="{short}" {attributes_of(passage)}>\n{text}\n</snippet>')
        return True

    def _add_line(self, line: str) -> None:
        self._lines.append(line)
        self._left -= len(line) + 1


def make_fault_observation(language: Language, problem: str) -> Message:
    """Return the observation that answers an action in a wrong form."""
    told = say("action_refused", language, problem=as_attribute(problem))
    return Message(role=ChatRole.USER, content=f"<tool_response>\n{told}\n</tool_response>")


def attributes_of(passage: Passage) -> str:
    """Return title, date and address of a passage's source as attributes."""
    source = passage.source
    date = f' date="{source.published.isoformat()}"' if source.published else ""
    return f'title="{as_attribute(source.title)}"{date} url="{as_attribute(source.url, 600)}"'
