"""Whether a Chinese clause foretells a period: Chinese has no tense, so particles and the period's place decide."""

import re
from datetime import date, timedelta

from retrieval.language.periods import Period, find_periods
from retrieval.language.traditional import simplify
from workflows.checks.clauses import RECENT, Clause, find_past_foretold, join_adverbials, split_clauses
from workflows.checks.future_forms import FutureForm, FutureKind, find_chinese_futures, join_words

ADVERBIAL_CHARS = 6
"""The most characters that a clause may have besides its period and still only date its neighbour."""
HISTORY = timedelta(days=30 * 365)
"""How long ago a period may be that is foretold: Chinese tells of older times in the same words."""
_BREAK = re.compile(r"[，。；：,;:（）()—]")
_NOT_PAST = re.compile(join_words("not_past_zh"))
_PAST = re.compile(join_words("past_zh"))
_REPORTING = re.compile(join_words("reporting_zh"))
_DONE = re.compile(rf"(?:{join_words('verbs_zh')})\w{{0,2}}的")
_OF_NOUN = re.compile(rf"(?:\w{{0,4}}?(?:{join_words('verbs_zh')}))?的")
_ONLY_DATES = re.compile(rf"(?:{join_words('adverbial_zh')}|\W)*")
_NAMED = re.compile(rf"\w{{0,8}}(?:{join_words('named_zh')})")
_COMPARED = re.compile(rf"(?:{join_words('compared_zh')})$")
_COMPARED_AFTER = re.compile(rf"[^，]{{0,8}}?(?:{join_words('after_compared_zh')})(?:，|,|$)")
_DEADLINE_BEFORE, _DEADLINE_AFTER = re.compile(r"[到至]$"), re.compile(r"[之以]?前")
_FICTION = re.compile(rf"(?:{join_words('fiction_zh')})[^，。]{{0,12}}?(?:中|里|写道|描写|讲述|设定)")


def find_foretold_chinese(sentence: str, written: date) -> Period | None:
    """Return a period that is over on that day and that the sentence foretells."""
    plain = simplify(sentence)
    futures = find_chinese_futures(plain)
    if not futures or _FICTION.search(plain):
        return None
    clauses = split_clauses(plain, _BREAK, find_periods(plain, written), futures)
    joined = join_adverbials(clauses, lambda clause: _is_adverbial(plain, clause))
    return find_past_foretold(joined, written, lambda clause, period: _foretells(plain, clause, period, written))


def _is_adverbial(sentence: str, clause: Clause) -> bool:
    bracketed = sentence[: clause.span.start].endswith(("（", "("))
    return not bracketed and _ONLY_DATES.fullmatch(clause.rest_in(sentence)) is not None


def _foretells(sentence: str, clause: Clause, period: Period, written: date) -> bool:
    """Say whether a future form of the clause dates this period, rather than a past verb or a noun."""
    if written - period.until > HISTORY or _PAST.search(_NOT_PAST.sub(" ", clause.text_in(sentence))):
        return False
    before, after = sentence[clause.span.start : period.start], sentence[period.end : clause.span.end]
    if _COMPARED.search(before) or _COMPARED_AFTER.match(after):
        return False
    later = [form for form in clause.futures if form.start >= period.end]
    if later:
        between = sentence[period.end : later[0].start]
        return not (_DONE.search(between) or _REPORTING.search(between) or _NAMED.fullmatch(between)) and _is_apt(
            later[0], before, after, period, written
        )
    return not _OF_NOUN.match(after) and any(_is_apt(form, before, after, period, written) for form in clause.futures)


def _is_apt(form: FutureForm, before: str, after: str, period: Period, written: date) -> bool:
    """Say whether the form may foretell at all: 要 needs a deadline, not long ago."""
    if form.kind is not FutureKind.WEAK:
        return True
    deadline = _DEADLINE_BEFORE.search(before) or _DEADLINE_AFTER.match(after)
    return deadline is not None and written - period.until < RECENT
