"""The date of a document that states none where programs read it: in its title or name, or in its first and last lines."""

import re
from collections.abc import Iterator, Sequence
from datetime import date

from retrieval.language.written_dates import WrittenDate, find_written_dates

HEAD_LINES, HEAD_CHARS = 15, 2_000
TAIL_LINES = 8
"""A contract is signed, and a letter may be dated, below its text."""
LINE_CHARS = 160
MOST_DATED_LINES = 3
"""More of them are a list of events."""
# What says at the start of a line that the date behind it is the document's own; a few words may stand before and between
# ("Board meeting of the trustees held on"). A sentence ("The meeting takes place on") says nothing of the document.
_OF_ITS_OWN = re.compile(
    r"""[\s(|>*#]*(?!(?:the|this|that|an?|our|its|next)\b)(?:[^\W\d_][\w’'-]*\s){0,2}?(?:
      (?:date|datum|stand)(?:\s+(?:of|der|des|de)\s+(?:the\s+|la\s+)?(?:meeting|issue|signature|publication|report|letter|sitzung|séance))?\s*[:：.]?
    | (?:dated|signed|issued|published|posted|sent|(?:last\s+)?(?:updated|revised)|as\s+of|minutes|meeting|session
      |unterzeichnet|veröffentlicht|aktualisiert|protokoll|sitzung|signé|fait\s+à|publié|mis\s+à\s+jour|réunion|séance)
      \b[^\d.;!?\n]{0,40}
    )\s*""",
    re.VERBOSE | re.IGNORECASE,
)
_OF_ITS_OWN_IN_CHINESE = re.compile(
    r"(?:日期|時間|时间|签署|簽署|签订|簽訂|发布|發布|發佈|印发|印發|更新|修订|修訂|会议|會議|纪要|紀要)(?:[于於在:：（(\s]){0,3}$"
)
# A letter's place and the day of the week: "Berlin, den", "Monday,".
_PLACE = re.compile(r"(?:[^\W\d_][\w.’'-]*(?:\s[^\W\d_][\w.’'-]*){0,2},\s*(?:den|le|the)?|[(（*_#\s]*)\s*", re.IGNORECASE)
_END = re.compile(r"[\s.。)）*_]*")


def find_date_in_name(*names: str) -> date | None:
    """Return the date that a title, or else the next of the names, states; one with several dates states none."""
    for name in names:
        days = {found.day for found in find_written_dates(name)}
        if len(days) == 1:
            return days.pop()
    return None


def find_date_in_text(text: str) -> date | None:
    """Return the date that the first lines, or the last, state as the document's: "Date: 3 March 2024", "Bern, 5 May 2023"."""
    lines = [line.strip() for line in text[:HEAD_CHARS].split("\n") if line.strip()][:HEAD_LINES]
    head = list(_find_own_dates(lines))
    if head:
        return head[0] if len(set(head)) <= MOST_DATED_LINES else None
    rest = text[HEAD_CHARS:].rstrip()[-HEAD_CHARS:]
    tail = list(_find_own_dates([line.strip() for line in rest.split("\n") if line.strip()][-TAIL_LINES:]))
    return tail[-1] if tail and len(set(tail)) == 1 else None


def _find_own_dates(lines: Sequence[str]) -> Iterator[date]:
    for line in lines:
        if len(line) <= LINE_CHARS:
            yield from (found.day for found in find_written_dates(line) if _is_own(line, found))


def _is_own(line: str, found: WrittenDate) -> bool:
    """Say whether a line states this date as the document's: it is all of the line, or follows a word that says so."""
    before, after = line[: found.start], line[found.end :]
    if _OF_ITS_OWN.fullmatch(before) or _OF_ITS_OWN_IN_CHINESE.search(before):
        return True
    return bool(_PLACE.fullmatch(before) and _END.fullmatch(after))
