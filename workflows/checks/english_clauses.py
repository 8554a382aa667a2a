"""Whether an English clause foretells a period: which verb the period belongs to."""

import re
from datetime import date

from retrieval.language.periods import Period, find_periods
from workflows.checks.clauses import RECENT, Clause, find_past_foretold, join_adverbials, split_clauses
from workflows.checks.future_forms import FutureForm, FutureKind, find_english_futures, join_words

ADVERBIAL_CHARS = 24
"""The most characters that a clause may have besides its period and still only date its neighbour: "by then, in 2025, ..."."""
_BREAK = re.compile(rf"[;:()]|,(?!\d)|\s[–—-]\s|\b(?:{join_words('breaks')})\b")
_PAST = re.compile(rf"\b(?:(?!(?:{join_words('not_past')})\b)[a-z]+ed|{join_words('past')})\b")
_PAST_AT_END = re.compile(rf"{_PAST.pattern}(?:\s+(?:\w+ly|out|up|down|off|on|by|to|at|in|into|with|from|for|under)\b[^,]*)?\s*$")
_PASSIVE = re.compile(r"\b(?:be|been|being|have|has|is|are|['’]s|['’]re)\s+(?:not\s+)?(?:\w+ly\s+)?[a-z]+\b")
_HEAD = re.compile(r"^(?:\s+(?:not|also|then|still|\w+ly))*(?:\s+(?:be|have|to|been))*\s+\w+")
_COMPARED = re.compile(
    rf"\b(?:(?:{join_words('compared')})\b(?:\s+\w+){{0,3}}|{join_words('compared_directly')})\s*$", re.IGNORECASE
)
_DOING = re.compile(r"\b(?!during|spring|following|according|remaining)[a-z]{3,}ing\b", re.IGNORECASE)
_LOOKING_BACK = re.compile(rf"^(?:\s+\w+ly)?\s+(?:{join_words('looking_back')})\b")
_OUTCOME = re.compile(rf"^(?:\s+(?:not|also|well|still|\w+ly))*\s+(?:{join_words('outcomes')})\b")
_DEADLINE = re.compile(rf"(?:{join_words('deadlines')})\b", re.IGNORECASE)
_EVENT = re.compile(rf"\s+(?:\w+\s+)?(?:{join_words('events')})\b", re.IGNORECASE)
_FICTION = re.compile(
    rf"\bin\s+(?:the|this|a|an|his|her|its|\S+['’]s)\s+(?:\w+\s+){{0,2}}(?:{join_words('fiction')})\b(?=\s*,|\s+(?:by|of|set)\b)",
    re.IGNORECASE,
)
_LEADING = re.compile(r"\W*(?:(?:and|or|so|thus|then|also)\b\W*)*", re.IGNORECASE)


def find_foretold_english(sentence: str, written: date) -> Period | None:
    """Return a period that is over on that day and that the sentence foretells."""
    futures = find_english_futures(sentence)
    if not futures or _FICTION.search(sentence):
        return None
    past = _PAST.search(_keep_finite("".join(_blank(sentence, futures)))) is not None
    futures = [form for form in futures if form.kind is not FutureKind.REDUCED or not past]
    clauses = split_clauses(sentence, _BREAK, find_periods(sentence, written), futures)
    joined = join_adverbials(clauses, lambda clause: _is_adverbial(clause.rest_in(sentence)))
    return find_past_foretold(joined, written, lambda clause, period: _foretells(sentence, clause, period, written))


def _blank(sentence: str, futures: list[FutureForm]) -> list[str]:
    letters = list(sentence)
    for form in futures:
        letters[form.start : form.end] = " " * (form.end - form.start)
    return letters


def _is_adverbial(rest: str) -> bool:
    return len(rest.strip()) <= ADVERBIAL_CHARS and not any(p.search(rest) for p in (_PAST, _DOING, _COMPARED))


def _foretells(sentence: str, clause: Clause, period: Period, written: date) -> bool:
    """Say whether a future form of the clause dates this period, rather than another verb or a noun."""
    before = sentence[clause.span.start : period.start]
    if _COMPARED.search(before):
        return False
    earlier = [form for form in clause.futures if form.end <= period.start]
    if earlier:
        return any(_governs(sentence, form, period) for form in earlier[-1:]) and _is_apt(sentence, earlier[-1], period, written)
    later = [form for form in clause.futures if form.start >= period.end and form.kind is not FutureKind.REDUCED]
    if not later or _PAST.search(_keep_finite(before)) or _DOING.search(before):
        return False
    if _PAST.search(_keep_finite(sentence[period.end : later[0].start])):
        return False
    leads = _LEADING.fullmatch(before) is not None
    return (leads or not _belongs_to_noun(sentence, period, later[0])) and _is_apt(sentence, later[0], period, written)


def _governs(sentence: str, form: FutureForm, period: Period) -> bool:
    """Say whether a form dates a period after it: no past verb, no noun and no backward look stands between."""
    gap = sentence[form.end : period.start]
    if form.kind is FutureKind.REDUCED and len(gap.split()) > 3:
        return False
    if _LOOKING_BACK.match(gap) or _PAST_AT_END.search(_keep_finite(_HEAD.sub(" ", gap, count=1))):
        return False
    return len(gap.split()) <= 1 or gap.split()[0] == "be" or not _belongs_to_noun(sentence, period, form)


def _belongs_to_noun(sentence: str, period: Period, form: FutureForm) -> bool:
    """Say whether a period dates the noun before it: "the accounts for 2024 will", not "growth for 2024 is projected"."""
    named = sentence[period.start : period.end].lower()
    if named.startswith("for"):
        foreseen = form.start >= period.end and sentence[form.start : form.end] != "will"
        return not foreseen and _EVENT.match(sentence, period.end) is None
    return re.fullmatch(r"from\s+(?:the\s+)?\d{4}", named) is not None


def _is_apt(sentence: str, form: FutureForm, period: Period, written: date) -> bool:
    """Say whether the form may foretell at all: a weak one needs a deadline or an outcome, not long ago."""
    if form.kind is not FutureKind.WEAK:
        return True
    timely = _DEADLINE.match(sentence, period.start) or _OUTCOME.match(sentence[form.end :])
    return timely is not None and written - period.until < RECENT


def _keep_finite(text: str) -> str:
    """Remove participles after be or have from the text."""
    return _PASSIVE.sub(" ", text)
