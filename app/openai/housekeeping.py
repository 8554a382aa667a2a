"""Requests that a chat client makes for itself: a title of the chat, tags, next questions, the end of what is being typed.

They are no questions to research. They are told apart by their form, and answered from the conversation itself, without a model.
"""

import json
import re
from collections.abc import Sequence

LOOKED_AT = 600
MOST_TITLE = 60
NO_TITLE = "Research"
_TASK = re.compile(r"\s*###\s*Task\s*:", re.IGNORECASE)
"""The beginning of Open WebUI's own requests, and of those that take after it."""
_OF_CHATS = re.compile(
    r"chat[_ ]history|autocompletion|this conversation|concise.{0,40}\btitle\b|\bbroad tags\b|\bfollow-?up questions\b"
    r"|\bsearch queries\b|\{\s*\"\w+\"\s*:",
    re.IGNORECASE,
)
_VERB = r"\s*(?:please\s+)?(?:generate|write|create|provide|give|suggest|make|summari[sz]e|based on|detect|return|reply)\b"
_CHAT = (
    r"\b(?:(?:this|our|following|above|given) (?:conversation|chat|dialog(?:ue)?|discussion|messages?)"
    r"|the (?:conversation|chat(?: history)?)(?! (?:of|between|with|that)\b)|our conversation)\b"
)
_LABEL = r"\b(?:title|name|headline|tags?|follow-?\s?ups?|emoji)\b"
_ASKED_IN_WORDS = re.compile(rf"{_VERB}[^?]*?(?:{_LABEL}[^?.]*?{_CHAT}|{_CHAT}[^?]*?{_LABEL})", re.IGNORECASE)
_FIELD = re.compile(r'\{\s*"(\w+)"\s*:\s*(\[|")')
_SAID = re.compile(r"^\s*(?:\*\*)?(?:user|human|用户)(?:\*\*)?\s*[:：]\s*(.+)$", re.IGNORECASE | re.MULTILINE)


def is_housekeeping(text: str) -> bool:
    """Say whether a client's last message is a request of the client's own."""
    return bool(_TASK.match(text) and _OF_CHATS.search(text)) or bool(_ASKED_IN_WORDS.match(text[:LOOKED_AT]))


def answer_housekeeping(text: str, earlier: Sequence[str]) -> str:
    """Answer such a request. `earlier` is what the user said before it.

    A title is the beginning of the first question. Of what only a model could write there is none: an empty text or list. The
    answer is JSON with the field that the request shows, or plain text where it shows none.
    """
    title = _cut_title(next(iter([*_SAID.findall(text), *earlier]), NO_TITLE))
    field = _FIELD.search(text)
    if field is None:
        return title
    name, opening = field.groups()
    value: str | list[str] = [] if opening == "[" else title if name == "title" else ""
    return json.dumps({name: value}, ensure_ascii=False)


def _cut_title(text: str) -> str:
    """Return the beginning of a text on one line, cut between words."""
    line = " ".join(text.split())
    return line if len(line) <= MOST_TITLE else f"{line[:MOST_TITLE].rpartition(' ')[0] or line[:MOST_TITLE]}…"
