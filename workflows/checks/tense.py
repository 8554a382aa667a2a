"""Finding predictions of the past: "by 2024 the market will reach ..." in a report written in 2026 (MindDR 8.4).

Stage one, here, finds candidates by rules: future wording with a period that is over. Stage two looks for the forecaster: a
sentence is an error only when neither it nor its neighbours name one (`forecasters.py` by rules, `judging/forecaster.py` by a
model). Quotations, titles and names are left out, and so are periods that belong to another verb ("the treaty signed in 2015
will ...").
"""

import re
from collections.abc import Sequence
from datetime import date
from typing import NamedTuple

from app.domain.query import Language, detect_language
from retrieval.language.paragraphs import Span
from retrieval.language.periods import Period, find_periods
from retrieval.language.sentences import split_sentences
from workflows.checks.forecasters import names_a_forecaster

ADVERBIAL_CHARS, CHINESE_ADVERBIAL_CHARS = 24, 6
"""The most characters that a clause may have besides its period and still only date the next clause: "by then, in 2025, ...".
"""
WINDOW_CHARS = 120
CHINESE_WINDOW_CHARS = 40
NEIGHBOURS = 2
_QUOTED = re.compile(r"“[^”]*”|\"[^\"\n]*\"|「[^」]*」|『[^』]*』|《[^》]*》|‘[^’]*’")
_NOUN_BEFORE = (
    r"(?<!\bfree )(?<!\blast )(?<!\bgood )(?<!\bill )(?<!\bpolitical )(?<!\bthe )(?<!\bhis )(?<!\bher )(?<!\btheir )(?<!\bown )"
    r"(?<!\bof )(?<!\ba )(?<!\bat )(?<!\bpopular )(?<!\bstrong )(?<!'s )(?<!\bmy )(?<!\bour )(?<!\bits )(?<!\bno )"
)
_EXPECTED = (
    r"expected|projected|forecast|forecasted|predicted|anticipated|estimated|scheduled|set|due|likely|slated|poised|bound|planned|"
    r"going|about|on\s+(?:track|course)"
)
_ENGLISH = re.compile(
    rf"{_NOUN_BEFORE}\bwill\b(?!\s+(?:of|to|and|or|was|is|were|had)\b)|\w'll\b|(?<!I )(?<!we )\bshall\b"
    rf"|\b(?:is|are|'s|'re)\s+(?:\w+\s+)?(?:{_EXPECTED})\s+(?:to|for)\b|\b(?:plans?|intends?|aims?)\s+to\b"
)
_WAS = re.compile(
    r"\b(?:was|were|had(?:\s+been)?|would|did|has|have|[a-z]+(?<!e)ed|rose|fell|grew|became|began|met|held|came|won|led|made|took|built|sank|sold|lost|left|gave|got|"
    r"went|saw|said|told|found|kept|put|set|cut|hit|shut|ran|broke|spent|paid|bought|brought|wrote|spoke|drew|knew|signed|born)\b"
)
_PARTICIPLE = re.compile(r"\b(?:be|been|being|have|has)\s+(?:\w+ly\s+)?[a-z]+(?:ed|en|t|n)?\b")
_HEAD = re.compile(r"^\s+(?:\w+ly\s+)?\w+")
_IN_BRACKETS = re.compile(r"\([^)]*\)")
_BREAK = re.compile(r"[;:]|,(?!\s*\d)|\s[–—-]\s|\b(?:which|who|that|because|when|while|although|though|where|whereas|but)\b")
_CHINESE_BREAK = re.compile(r"[，。；：,;]")
_COMPARED = re.compile(r"\b(?:compared|unlike|despite|than|as|since|from|after|like|for|with)\s*(?:it\s+did\s*)?$", re.IGNORECASE)
_FUTURE_WORDS = (
    "会|有望|可能|继续|进一步|逐步|达|超|突破|增|下降|上|下|涨|跌|见|成为|实现|保持|迎来|出现|推出|完|建|举|发布|开|启动|进入|扩大|升|降|是|面临|占|带|推动|"
    "提|减|恢复|持续|接近|翻|创|新增|新开|投|上线|上市|通车|全|正式|首次|再|不|无|难|趋|呈|于|在|从|由|拟|满足|贯通|接待|处理|收窄|放缓|重新|需|年均|"
    "共|有|作出|强制|施行|实施|停|关|签|发放|生产|出版|运行|结束|到|与|对|让|使|令|均|大|明显|显著|快速|接入|雇|培育|盈|拥|走|回|产生|提供|吸|吸引|服务|覆盖|更"
)
_CHINESE = re.compile(
    rf"(?<![名大])将(?![军领士近信])(?:{_FUTURE_WORDS})|预计(?!到?\w{{0,6}}的)|有望|料将|[拟定][于在]|计划[于在]|即将|将会"
)
_DISPOSAL = re.compile(
    r"将(?![于在会有从])[^，。；,;]{1,24}?(?:迁|分为|定为|认定|归结|译|用于|作为|纳入|转|列|视为|提高到|降至|降到|改为|交给|送到|带到|移到|引入)"
)
_CHINESE_PAST = re.compile(
    r"曾(?!预)|此前|已(?!宣布)|了(?!解)|(?<![超通])过(?![去程度渡])|未能|当时|成立于|生于|通过的|签署的|收集的|发射的|入职的|发布的|建造的|开征的|招标的"
)
_CHINESE_BOUND = re.compile(r"相比|以前|入职|招标|\w{0,6}(?:之后|以后|之前|以来)")
_CHINESE_OTHER = re.compile(r"与$|相比|由于|因为|虽然|尽管")


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
    """Return a period that is over and stands near future wording; None if another such period is still to come."""
    if sentence.rstrip().endswith(("?", "？")):
        return None
    plain = _QUOTED.sub(lambda quoted: " " * len(quoted.group()), sentence)
    chinese = detect_language(plain) is Language.CHINESE
    pattern, window = (_CHINESE, CHINESE_WINDOW_CHARS) if chinese else (_ENGLISH, WINDOW_CHARS)
    futures = [found.span() for found in pattern.finditer(plain)]
    if not futures or (chinese and _is_told_as_past(plain)):
        return None
    free = [p for p in find_periods(plain, written) if not _is_bound_elsewhere(plain, p, futures, chinese)]
    near = [p for p in free if any(max(p.start - end, start - p.end) <= window for start, end in futures)]
    if not near or any(period.until >= written for period in near):
        return None
    return near[0]


def _is_told_as_past(plain: str) -> bool:
    """Say whether a Chinese sentence tells the past: by a past marker, or by 将 that only puts an object before its verb."""
    return _CHINESE_PAST.search(plain) is not None or _DISPOSAL.search(plain) is not None


def _is_bound_elsewhere(plain: str, period: Period, futures: Sequence[tuple[int, int]], chinese: bool) -> bool:
    """Say whether the period belongs to another verb or noun than the future one."""
    clause = _find_clause(plain, period, _CHINESE_BREAK if chinese else _BREAK)
    foretells = any(clause.start <= start < clause.end for start, _ in futures)
    rest = clause.end - clause.start - (period.end - period.start)
    if not foretells and rest > (CHINESE_ADVERBIAL_CHARS if chinese else ADVERBIAL_CHARS):
        return True
    if chinese:
        before, after = plain[clause.start : period.start], plain[period.end :]
        return _CHINESE_OTHER.search(before) is not None or _CHINESE_BOUND.match(after) is not None
    return _is_bound_in_english(plain, period, futures, clause.start)


def _find_clause(plain: str, period: Period, breaks: re.Pattern[str]) -> Span:
    """Return the clause in which a period stands."""
    edges = [found.span() for found in breaks.finditer(plain)]
    start = max((end for _, end in edges if end <= period.start), default=0)
    return Span(start, min((begin for begin, _ in edges if begin >= period.end), default=len(plain)))


def _is_bound_in_english(plain: str, period: Period, futures: Sequence[tuple[int, int]], clause: int) -> bool:
    before = plain[clause : period.start]
    if _COMPARED.search(before):
        return True
    earlier = [end for _, end in futures if clause <= end <= period.start]
    if earlier:
        return all(_WAS.search(_HEAD.sub(" ", _keep_finite(plain[end : period.start]))) for end in earlier)
    if _WAS.search(_keep_finite(before)):
        return True
    following = [start for start, _ in futures if start >= period.end]
    return not following or _WAS.search(_keep_finite(plain[period.end : following[0]])) is not None


def _keep_finite(text: str) -> str:
    """Remove brackets, and participles after be or have, from the text."""
    return _PARTICIPLE.sub(" ", _IN_BRACKETS.sub(" ", text))
