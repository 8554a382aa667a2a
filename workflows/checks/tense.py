"""Finding predictions of the past: "by 2024 the market will reach ..." in a report written in 2026 (MindDR 8.4).

Stage one, here, finds candidates by rules: a clause with future wording (`future_forms.py`) whose period is over. Stage two looks
for the forecaster: a sentence is an error only when neither it nor its neighbours name one (`names_a_forecaster`, by rules).
Quotations, titles, names and fiction are left out, and so are periods that belong
to another verb ("the treaty signed in 2015 will ...").
"""

import re
from collections.abc import Sequence
from datetime import date
from typing import NamedTuple

from app.domain.query import Language, detect_language
from app.domain.script import IDEOGRAPHS
from retrieval.language.periods import Period
from retrieval.language.sentences import split_sentences
from retrieval.language.word_lists import read_lists
from workflows.checks.chinese_clauses import find_foretold_chinese
from workflows.checks.english_clauses import find_foretold_english

NEIGHBOURS = 2
_QUOTED = re.compile(r"“[^”]*”|\"[^\"\n]*\"|「[^」]*」|『[^』]*』|《[^》]*》|‘[^’]*’")
_LISTS = {
    name: "|".join(word.replace("_", r"\s+") for word in sorted(words, key=len, reverse=True))
    for name, words in read_lists("forecasters.toml", "workflows.checks").items()
}
_WHO = rf"(?:[A-Z][\w&.-]+(?:['’]s)?|{_LISTS['who']})"
_NAMED = (
    r"(?:\s+(?:at|of|in|from|by)\s+(?:the\s+)?\w+(?:\s\w+)?)?(?:['’]s\s+(?:\d{4}\s+)?\w+)?,?\s+(?:has\s+|have\s+|had\s+|also\s+)?"
)
_ENGLISH = re.compile(
    rf"\b[Aa]ccording\s+to\b|\bas\s+the\s+\w+\s+project|\b{_WHO}{_NAMED}(?:{_LISTS['says']})\b"
    rf"|\b{_WHO}\s+(?:is|are)\s+(?:{_LISTS['planning']})\b|\b(?:{_LISTS['works']})\s+(?:by|from|of|published)\b"
    rf"|\b[A-Z]\w+['’]s\s+(?:\d{{4}}\s+)?(?:{_LISTS['works']})\b|\b[A-Z]\w+\s+(?:study|report|forecast|survey)\b"
    rf"|\b(?:its|their)\s+(?:\d{{4}}\s+)?(?:outlook|forecast|projection|guidance)\b"
)
_CHINESE = re.compile(
    rf"(?:{_LISTS['bodies_zh']}|[A-Z]{{2,}}|彭博\w{{0,6}})[^，。；]{{0,14}}?(?:已|曾|也|还)?(?:{_LISTS['says_zh']})"
    rf"|(?:据|根据|按照)[^，。；]{{2,24}}?(?:预测|预计|报告|测算|统计|估计|数据|规划|展望)|[{IDEOGRAPHS}A-Za-z]{{2,12}}的(?:预测|研究|报告|展望)"
)


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


def names_a_forecaster(context: str) -> bool:
    """Say whether the text names the author of its forecast. "It is expected" names nobody."""
    return _ENGLISH.search(context) is not None or _CHINESE.search(context) is not None
