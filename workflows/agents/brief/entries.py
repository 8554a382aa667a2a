"""Entries that begin with a code, like the messages of a device: who asks about one has no use for the others."""

import re
from collections.abc import Sequence

from workflows.agents.brief.splitting import is_same_paragraph
from workflows.agents.brief.units import Unit

_CODE = re.compile(r"\b[A-Z]{1,4}-?\d{2,5}\b")
_FIRST = re.compile(rf"\W*(?P<code>{_CODE.pattern})")


def leave_out_other_entries(question: str, units: Sequence[Unit]) -> list[Unit]:
    """Return the units of passages without the entries whose code looks like one that is asked about and has an entry.

    One figure is no code: whoever asks about the third quarter (Q3) may need the second.
    """
    codes = [first["code"] if (first := _FIRST.match(unit.text)) else "" for unit in units]
    asked = {code.group() for code in _CODE.finditer(question.upper())} & set(codes)
    letters = {_letters_of(code) for code in asked}
    kept: list[Unit] = []
    left_out: Unit | None = None
    for unit, code in zip(units, codes, strict=True):
        is_other = _letters_of(code) in letters and code not in asked
        goes_on = left_out is not None and left_out.passage is unit.passage and not code and is_same_paragraph(left_out, unit)
        left_out = unit if is_other or goes_on else None
        if left_out is None:
            kept.append(unit)
    return kept


def _letters_of(code: str) -> str:
    return code.rstrip("0123456789")
