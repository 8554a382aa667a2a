"""Finding by rules whether a text names the author of a forecast (MindDR 8.4): an institution, a person, or the planner."""

import re

from app.domain.script import IDEOGRAPHS
from retrieval.language.word_lists import read_lists

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


def names_a_forecaster(context: str) -> bool:
    """Say whether the text names the author of its forecast. "It is expected" names nobody."""
    return _ENGLISH.search(context) is not None or _CHINESE.search(context) is not None
