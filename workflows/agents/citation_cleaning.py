"""Cleaning the citations that a model writes: ids it was shown stay as `[q3]`; all else that looks like a citation is removed.

Removed are ids that were not shown, a bare number in brackets, links and addresses that the model made up, and footnotes. Where a
statement has lost its only citation `[q0]` stands, so that the reader is told of it. Several numbers, as of an interval, stay.
"""

import re
from collections.abc import Collection
from typing import NamedTuple

from app.domain.citations import MARKER
from app.domain.code import find_code, hide_code
from workflows.agents.bracketed_ids import write_ids_plainly
from workflows.agents.evidence_book import NO_QUOTE

MAX_CHARS = 60_000
MAX_PASSES = 4
FIRST_YEAR = 1000
_SPLIT = re.compile(r"\s*(?:[,;，；、–-]|\band\b)\s*")
_ID_LIST = r"\^?q?\d{1,6}(?:\s*(?:[,;，；、–-]|\band\b)\s*\^?q?\d{1,6})*"
_NUMBERS = re.compile(r"[\d\s,;，；–-]+")
_ONLY_IDS = re.compile(rf"\s*{_ID_LIST}\s*", re.IGNORECASE)
_BRACKETED = re.compile(rf"(?:\[|【)\s*({_ID_LIST})\s*(?:†[^\]】\n]{{0,40}})?(?:\]|】)", re.IGNORECASE)
# Not directly behind another one: t(9;22)(q34;q11) is a change of chromosomes.
_PARENTHESISED = re.compile(r"(?<!\))[(（]\s*(q\d{1,6}(?:\s*[,;，；、]\s*q\d{1,6})*)\s*[)）]")
_CITE_TAG = re.compile(r'<cite\s+id\s*=\s*"?([^">]{0,200})"?\s*>(.*?)</cite>', re.DOTALL | re.IGNORECASE)
_CANONICAL = re.compile(r"\[(q[1-9]\d{0,5})\]")
_GONE = rf"\[{NO_QUOTE}\]"
_WITHIN_CODE = re.compile(r"[ \t]*(\[q\d{1,6}\])")
_GONE_BESIDE = re.compile(rf"(?P<kept>\[q\d{{1,6}}\])(?:\s*{_GONE})+|(?:{_GONE}[ \t]*)+(?=\[q\d)|[(（]\s*{_GONE}\s*[)）]")
_IMAGE = re.compile(r"!\[([^\]\n]{0,400})\]\([^)\n]{0,2000}\)")
_LINK = re.compile(r"\[([^\[\]\n]{1,400})\]\((?:[^()\n]|\([^()\n]*\)){0,2000}\)")
_REFERENCE_LINE = re.compile(r"^\s*\[[^\]\n]{1,80}\]:.*$", re.MULTILINE)
_NOT_IN_ADDRESS = r"\s<>\"'`）)\]，。；"
_ADDRESS = re.compile(
    rf"<?\b(?:(?:https?|ftp|file|data|javascript)://|www\.)[^{_NOT_IN_ADDRESS}]*[^{_NOT_IN_ADDRESS}.,;:!?]>?", re.IGNORECASE
)
_STRAY_BLANK = re.compile(r"(?<![ \t])[ \t]+(?=[.,;:!?)](?![\w/`])|[。，；：！？）])")
_NOTHING_WITHIN = re.compile(r"[(（]\s*[)）]")
_WIDE_GAP = re.compile(r"(?<=\S)[ \t]{2,}(?=\S)")
_NO_CODE = re.compile(
    r"://|www\.|\[\[\s*(?:\^?q\d|[0-9a-f]{16})|<cite|[\[［【〔][^\]］】〕`\n]{0,40}\bq\d|`\s*[\[【][\s\d,;^–-]+[\]】]\s*`",
    re.IGNORECASE,
)
"""What is no code, whatever stands around it: an address, a marker, a citation."""
_LEFTOVER = re.compile(r"\[(?=\[)|(?<=\])\]|\[\^?(?=\d{1,6}\])")


class CleanedText(NamedTuple):
    """Text in which every `[q..]` is an id the writer was shown, and the number of citations removed from it."""

    text: str
    removed: int


def clean_citations(text: str, allowed: Collection[str]) -> CleanedText:
    """Return the text with only citations from `allowed`, each written as `[q3]`, and `[q0]` where the only one was removed.

    Without any id allowed, nothing stands where a citation was. Code stays as it is; a citation within a line of code comes
    behind it.
    """
    cleaning, code = CitationCleaner(allowed), hide_code(text[:MAX_CHARS], _NO_CODE)
    text = code.text
    for _ in range(MAX_PASSES):
        before, text = text, cleaning.clean_once(text)
        if text == before:
            break
    tidy = _tidy_blanks(_LEFTOVER.sub("", _GONE_BESIDE.sub(_keep_one, text)))
    return CleanedText(_move_out_of_code(code.put_back(_WIDE_GAP.sub(" ", tidy).strip())), cleaning.removed)


def _move_out_of_code(text: str) -> str:
    """Put each citation within code on a line behind that code: within it no reader could follow it."""
    shown: list[str] = []
    at = 0
    for start, end in find_code(text).blocks:
        said = text[start:end]
        if "\n" not in said and (cited := _WITHIN_CODE.findall(said)):
            code = _WITHIN_CODE.sub("", said)
            shown += [text[at:start], *([code, " "] if code.strip("` ") else []), *cited]
            at = end
    return "".join([*shown, text[at:]])


def _keep_one(match: re.Match[str]) -> str:
    return match["kept"] or (f"[{NO_QUOTE}]" if match.group()[0] in "(（" else "")


def _tidy_blanks(text: str) -> str:
    """Remove the blanks and the empty parentheses that a citation leaves behind."""
    return _NOTHING_WITHIN.sub("", _STRAY_BLANK.sub("", text))


def remove_citations(text: str) -> str:
    """Remove everything that looks like a citation. Used for words of a source that are shown outside their quote."""
    return clean_citations(text, ()).text


def list_cited_ids(text: str) -> tuple[str, ...]:
    """Return the ids that cleaned text cites, each once, in order."""
    return tuple(dict.fromkeys(_CANONICAL.findall(text)))


def has_citation(text: str) -> bool:
    """Say whether cleaned text cites anything."""
    return _CANONICAL.search(text) is not None


class CitationCleaner:
    """The cleaning of one text, with a count of what it removes."""

    def __init__(self, allowed: Collection[str]) -> None:
        self._allowed = allowed
        self._gone = f"[{NO_QUOTE}]" if allowed else ""
        self._cites = False
        self.removed = 0

    def clean_once(self, text: str) -> str:
        """Take every reference out of a text that names none of the allowed passages."""
        text = write_ids_plainly(text, "q", self._allowed) if self._allowed else text
        text = MARKER.sub(self._replace_marker, text)
        text = _IMAGE.sub(self._keep_caption, _CITE_TAG.sub(self._replace_tag, text))
        text = _REFERENCE_LINE.sub(self._remove_line, _LINK.sub(self._replace_link, text))
        if "://" in text or "www." in text.lower():  # the pattern is tried at every character
            text = _ADDRESS.sub(self._remove, text)
        self._cites = self._cites or has_citation(text)
        text = _PARENTHESISED.sub(self._replace_list, _BRACKETED.sub(self._replace_list, text))
        return _tidy_blanks(text)

    def _write_known_ids(self, said: str) -> str:
        wanted = [w.lower().lstrip("^") for w in _SPLIT.split(said.strip()) if w]
        if len(wanted) == 1 and wanted[0].isdigit() and int(wanted[0]) >= FIRST_YEAR:
            return f"({wanted[0]})"
        known = dict.fromkeys(w for w in wanted if w in self._allowed)
        self.removed += sum(w not in self._allowed and w != NO_QUOTE for w in wanted)
        return "".join(f"[{w}]" for w in known) or self._gone

    def _replace_list(self, match: re.Match[str]) -> str:
        return match.group() if self._is_interval(match.group(1)) else self._write_known_ids(match.group(1))

    def _is_interval(self, said: str) -> bool:
        """Say whether several numbers are no ids: one of them is none, or the text cites by ids that begin with q."""
        numbers = [] if not _NUMBERS.fullmatch(said) else re.findall(r"\d+", said)
        return len(numbers) > 1 and (self._cites or any(f"q{int(number)}" not in self._allowed for number in numbers))

    def _replace_tag(self, match: re.Match[str]) -> str:
        return match.group(2) + self._write_known_ids(match.group(1))

    def _replace_marker(self, match: re.Match[str]) -> str:
        return f"[{match.group(1)}]" if _ONLY_IDS.fullmatch(match.group(1)) else self._remove(match)

    def _replace_link(self, match: re.Match[str]) -> str:
        return self._write_known_ids(match.group(1)) if _ONLY_IDS.fullmatch(match.group(1)) else self._keep_label(match)

    def _keep_caption(self, match: re.Match[str]) -> str:
        self.removed += 1
        return match.group(1)

    def _keep_label(self, match: re.Match[str]) -> str:
        self.removed += 1
        return match.group(1) + self._gone

    def _remove(self, match: re.Match[str]) -> str:
        self.removed += 1
        return self._gone

    def _remove_line(self, match: re.Match[str]) -> str:
        self.removed += 1
        return ""
