"""Reading what models write: thinking is separated, JSON is found in prose, and common mistakes are repaired.

Every function here takes time linear in the length of the text.
"""

import re
from collections import deque
from collections.abc import Iterator
from typing import Any

from pydantic_core import from_json

from app.domain.safe_text import make_safe, make_safe_value

MAX_CHARS = 200_000
MAX_CANDIDATES = 12
_MARK = r"[^<>\[\]◁▷＜＞\n]{0,24}"
_THINKING = rf"{_MARK}(?:think|thought|reason|analysis){_MARK}(?:>|\]|▷|＞)"
_OPENED = re.compile(rf"\s*[<\[◁＜]\|?(?!/|end){_THINKING}", re.IGNORECASE)
_CLOSED = re.compile(rf"[<\[◁＜]\|?(?:/|end){_THINKING}", re.IGNORECASE)
"""The marks around private thinking, whatever brackets a model's template has."""
_CLOSED_ALONE = re.compile(rf"(?<![`'\"“]){_CLOSED.pattern}(?=\s*(?:\n|[{{\[<#]|\Z)|\w)", re.IGNORECASE)
"""The end of thinking whose opening mark was part of the server's template. What is followed by blank and words is a mention."""
_CUT_OFF = re.compile(r"\s*\W{1,2}(?:\w+:)?(?:start_)?think(?:ing)?\W{1,2}", re.IGNORECASE)
"""The mark after which all is thinking where no other ends it. Other words in brackets may begin an answer."""
_CHANNELS = re.compile(r"\s*(?:<\|start\|>\s*assistant\s*)?<\|channel\|>")
_FINAL_CHANNEL = re.compile(r"<\|channel\|>\s*final\b[^<]*(?:<\|message\|>)?")
_BARE_CHANNELS = re.compile(r"analysis(?=\S)(.*?)assistantfinal", re.DOTALL)
"""The same channels, from a server that leaves out the tokens between them."""
_SPECIAL = r"<\|[A-Za-z_]{2,24}\|>"
_SPECIAL_FIRST = re.compile(rf"\A(?:\s*{_SPECIAL})+")
_SPECIAL_LAST = re.compile(r"\A(?:\s*>\|[A-Za-z_]{2,24}\|<)+")
"""Found in the text read backwards, where only one place has to be tried."""
_FENCE = re.compile(r"```[\w-]*[ \t]*\n(.*?)(?:\n[ \t]*```|\Z)", re.DOTALL)
_ANSWER_OPEN = re.compile(r"<answer>", re.IGNORECASE)
_ANSWER_CLOSE = re.compile(r"</answer>", re.IGNORECASE)
_STRING = r'"(?:[^"\\]++|\\.)*+"'
_STRINGS = re.compile(f"({_STRING})", re.DOTALL)
_NESTING = re.compile(rf"{_STRING}|([{{\[])|([}}\]])", re.DOTALL)
_TRAILING_COMMA = re.compile(r",\s*(?=[}\]])")
_COMMENT = re.compile(r"//[^\n]*")
_SINGLE_QUOTED = re.compile(r"'((?:[^'\\\n]|\\.)*)'(?=\s*[:,}\]])")
_PYTHON_WORD = re.compile(r"\b(None|True|False)\b")
_JSON_WORD = {"None": "null", "True": "true", "False": "false"}


def remove_thinking(text: str) -> str:
    """Remove private thinking from the text, also when the opening or the closing tag is missing."""
    return _divide_thinking(text)[0]


def thinking_of(text: str) -> str:
    """Return the private thinking; empty if there is none."""
    return make_safe(_divide_thinking(text)[1])


def _divide_thinking(text: str) -> tuple[str, str]:
    """Return the text without the thinking that it begins with, and that thinking."""
    text = text[:MAX_CHARS]
    thoughts: list[str] = []
    while (end := _find_thinking(text)) is not None:
        thoughts.append(_OPENED.sub("", text[: end[0]], count=1))
        text = text[end[1] :]
    return _trim(text), re.sub(_SPECIAL, "", "".join(thoughts)).strip()


def _find_thinking(text: str) -> tuple[int, int] | None:
    """Return where the thinking with which a text begins ends, before and after its mark; None where it begins with none."""
    if opened := _OPENED.match(text):
        if closed := _CLOSED.search(text, opened.end()):
            return closed.span()
        return (len(text), len(text)) if _CUT_OFF.fullmatch(opened.group()) else None
    if _CHANNELS.match(text):
        final = _find_last(_FINAL_CHANNEL, text)
        return final.span() if final else (len(text), len(text))
    if bare := _BARE_CHANNELS.match(text):
        return bare.end(1), bare.end()
    closed = None if text.lstrip().startswith("{") else _CLOSED_ALONE.search(text)
    return closed.span() if closed else None


def _trim(text: str) -> str:
    """Remove the tokens of a template around a text."""
    backwards = _SPECIAL_FIRST.sub("", text)[::-1]
    return _SPECIAL_LAST.sub("", backwards)[::-1].strip()


def _find_last(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    last = deque(pattern.finditer(text), maxlen=1)
    return last[0] if last else None


def read_answer_tag(text: str) -> str | None:
    """Return the content of the last `<answer>` tag."""
    opened = _find_last(_ANSWER_OPEN, text)
    if opened is None:
        return None
    closed = _ANSWER_CLOSE.search(text, opened.end())
    return text[opened.end() : closed.start() if closed else len(text)].strip()


def remove_fence(text: str) -> str:
    """Return the content of a text that is one fenced block, else the text."""
    found = _FENCE.fullmatch(text.strip())
    return found.group(1).strip() if found and "```" not in found.group(1) else text


def find_json_values(text: str) -> Iterator[Any]:
    """Yield every reading of `text` as a JSON object or array, likeliest first. The caller takes the first that fits."""
    seen: set[str] = set()
    for candidate in _find_candidates(text[:MAX_CHARS]):
        if candidate not in seen:
            seen.add(candidate)
            value = parse_leniently(candidate)
            if isinstance(value, dict | list):
                yield value


def parse_leniently(text: str) -> Any:
    """Read `text` as JSON and repair common mistakes: trailing commas, comments, bare line breaks, Python words, a cut-off end.

    Return None if it cannot be read.
    """
    for attempt in (text, repair_json(text)):
        try:
            return make_safe_value(from_json(attempt, allow_partial="trailing-strings"))
        except ValueError:
            continue
    return None


def _find_candidates(text: str) -> Iterator[str]:
    inside = read_answer_tag(text)
    for whole in (text,) if inside is None else (inside, text):
        if whole.lstrip().startswith(("{", "[")):
            yield whole.strip()
        for block, _ in zip(_FENCE.finditer(whole), range(MAX_CANDIDATES), strict=False):
            yield block.group(1).strip()
        yield from _find_objects(whole)


def _find_objects(text: str) -> Iterator[str]:
    """Yield the outermost stretches from an opening brace to its match, or to the end of the text."""
    at = text.find("{")
    for _ in range(MAX_CANDIDATES):
        if at < 0:
            return
        end = _find_matching_end(text, at)
        yield text[at:end]
        at = text.find("{", end)


def _find_matching_end(text: str, start: int) -> int:
    """Return the end of the object that opens at `start`; braces inside strings do not count."""
    depth = 0
    for token in _NESTING.finditer(text, start):
        depth += bool(token.group(1)) - bool(token.group(2))
        if depth == 0:
            return token.end()
    return len(text)


def repair_json(text: str) -> str:
    """Repair text that was meant to be JSON, as far as that needs no guessing."""
    if '"' not in text:
        text = _SINGLE_QUOTED.sub(r'"\1"', text.replace("“", '"').replace("”", '"'))
    pieces = _STRINGS.split(text)
    for i, piece in enumerate(pieces):
        pieces[i] = _repair_string(piece) if i % 2 else _repair_between_strings(piece)
    return "".join(pieces)


def _repair_string(quoted: str) -> str:
    return quoted.replace("\r", "").replace("\n", "\\n").replace("\t", "\\t")


def _repair_between_strings(piece: str) -> str:
    return _TRAILING_COMMA.sub("", _PYTHON_WORD.sub(_json_word_of, _COMMENT.sub("", piece)))


def _json_word_of(word: re.Match[str]) -> str:
    return _JSON_WORD[word.group()]
