"""Recognising sentences that state no fact: questions, openings of lists, transitions, and sentences about the report itself."""

import re

from app.domain.script import IDEOGRAPHS
from retrieval.language.stop_words import STOP_WORDS
from retrieval.language.word_lists import read_lists
from workflows.checks.reading import ReadSentence

_LISTS = read_lists("factless.toml", "workflows.checks")
LEADING = frozenset(_LISTS["leading"])
"""English words that only lead from one part of a text to the next, in lower case."""
_LEADING_CHINESE = re.compile("|".join(sorted(map(re.escape, _LISTS["leading_chinese"]), key=len, reverse=True)))
_WORD = re.compile(rf"[^\W\d_{IDEOGRAPHS}]+")
_IDEOGRAPH = re.compile(f"[{IDEOGRAPHS}]")
_ASKS = re.compile(r"[?？]\W*$")
_OPENS_LIST = re.compile(r"[:：]\W*$")
_REPORT, _DOES, _EVIDENCE, _IS, _LACKS, _OPEN = (
    rf"(?:{'|'.join(_LISTS[name])})\b" for name in ("report", "report_does", "evidence", "evidence_is", "evidence_lacks", "open")
)
_POINTS_AT_REPORT = re.compile(
    rf"^\W*(?:in |as )?(?:this|these|the (?:following|next|present|previous|last)|each|our) (?:{_REPORT}|sections\b)",
    re.IGNORECASE,
)
_REPORT_DOES = re.compile(rf"^\W*the {_REPORT} (?:(?:also|then|first|only|is|does|do|can) )*{_DOES}", re.IGNORECASE)
_EVIDENCE_LACKS = re.compile(rf"^\W*(?:no|none of the|neither) {_EVIDENCE}", re.IGNORECASE)
_EVIDENCE_IS = re.compile(
    rf"^\W*(?:(?:the|this|these|all|most|many|some|few|other|several|both|two|available|existing) ){{0,3}}{_EVIDENCE}[^,;]*? "
    rf"(?:(?:is|are|was|were|remains?|seems?) (?:\w+ )?{_IS}|(?:do|does|did) not {_LACKS}|says? (?:nothing|little|no more)\b"
    r"|(?:differ|disagree|agree|conflict|diverge|vary)\b)",
    re.IGNORECASE,
)
_LEAVES_OPEN = re.compile(
    rf"^[^,;]*\b(?:{_OPEN}|to be seen\b)[^,;]*?\b(?:whether|how|what|why|which|who|when|where)\b", re.IGNORECASE
)
_ABOUT_REPORT_CHINESE = re.compile(
    r"^\W*(?:在|如)?(?:本报告|本节|本部分|本文|本章|本摘要|以下|下文|上文|下表|这一节|这一部分|各节)"
    r"|^\W*(?:关于[^，；]*)?(?:现有|目前|当前|已有|所引|各|大?多数|不同|这些|上述|本次|公开|没有|的|研究)*(?:证据|来源|资料|材料|文献|段落)"
    r"[^，；]*(?:有限|不足|不一|不同|分歧|缺乏|较少|很少|没有|未能|并未|均未|尚未|薄弱|不够)"
    r"|^(?:\w{2,3}，)?[^，；]*(?:尚|仍|还|并)(?:不清楚|不明|不得而知|无定论|未有定论)"
)
_ABOUT = (_POINTS_AT_REPORT, _REPORT_DOES, _EVIDENCE_LACKS, _EVIDENCE_IS, _LEAVES_OPEN, _ABOUT_REPORT_CHINESE)
_TELLS = re.compile(r"\b(?:that|shows?|states?|according to)\b|表明|显示|指出|证明|认为|证实", re.IGNORECASE)
"""What a sentence about the report tells of its subject after these words is a fact like any other."""
FEWEST_IDEOGRAPHS = 2


def states_nothing(said: ReadSentence) -> bool:
    """Say whether a sentence states no fact about the subject of its report. An exact number is one, but not in a question."""
    if _ASKS.search(said.text):
        return True
    if said.exact_numbers:
        return False
    if _OPENS_LIST.search(said.text) or _only_leads(said.text):
        return True
    return any(about.search(said.text) for about in _ABOUT) and not _TELLS.search(said.text)


def _only_leads(text: str) -> bool:
    """Say whether all words only lead from one part of the text to the next."""
    words = all(word.lower() in LEADING | STOP_WORDS for word in _WORD.findall(text))
    return words and len(_IDEOGRAPH.findall(_LEADING_CHINESE.sub("", text))) < FEWEST_IDEOGRAPHS
