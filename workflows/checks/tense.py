"""Finding predictions of the past: "by 2024 the market will reach ..." in a report written in 2026 (MindDR 8.4).

Stage one, here, finds candidates by rules: a clause with future wording (`future_forms.py`) whose period is over. Stage two looks
for the forecaster: a sentence is an error only when neither it nor its neighbours name one (`forecasters.py`, by rules).
Quotations, titles, names and fiction are left out, and so are periods that belong to another
verb ("the treaty signed in 2015 will ...").
"""

import re
from collections.abc import Sequence
from datetime import date
from typing import NamedTuple

from app.domain.query import Language, detect_language
from retrieval.language.periods import Period
from retrieval.language.sentences import split_sentences
from workflows.checks.chinese_clauses import find_foretold_chinese
from workflows.checks.english_clauses import find_foretold_english
from workflows.checks.forecasters import names_a_forecaster

NEIGHBOURS = 2
_QUOTED = re.compile(r"“[^”]*”|\"[^\"\n]*\"|「[^」]*」|『[^』]*』|《[^》]*》|‘[^’]*’")


class PastPrediction(NamedTuple):
    """A sentence, `[start, end)` in the text, that predicts the past. `forecaster`: the text names a forecaster."""

    text: str
    start: int
    end: int
    period: str
    until: date
    forecaster: bool


def find_past_predictions(text: str, written: date) -> list[PastPrediction]:
    """Return the candidates of stage one, in order, each with the verdict of stage two's rules."""
    spans = split_sentences(text)
    sentences = [text[span.start : span.end] for span in spans]
    found: list[PastPrediction] = []
    for place, (span, sentence) in enumerate(zip(spans, sentences, strict=True)):
        if period := _find_past_period(sentence, written):
            named = sentence[period.start : period.end].strip()
            told = names_a_forecaster(_context_of(sentences, place))
            found.append(PastPrediction(sentence, span.start, span.end, named, period.until, told))
    return found


def find_tense_errors(text: str, written: date) -> list[PastPrediction]:
    """Return the predictions of the past without a named forecaster."""
    return [prediction for prediction in find_past_predictions(text, written) if not prediction.forecaster]


def _context_of(sentences: Sequence[str], place: int) -> str:
    return " ".join(sentences[max(0, place - NEIGHBOURS) : place + NEIGHBOURS + 1])


def _find_past_period(sentence: str, written: date) -> Period | None:
    """Return a period that is over in a clause that foretells it; questions foretell nothing."""
    if sentence.rstrip().endswith(("?", "？")):
        return None
    plain = _QUOTED.sub(lambda quoted: " " * len(quoted.group()), sentence)
    if detect_language(plain) is Language.CHINESE:
        return find_foretold_chinese(plain, written)
    return find_foretold_english(plain, written)
