"""The part of a text that asks: greetings, reasons for asking and polite turns are not its subject."""

import re
from collections.abc import Sequence

from app.domain.query import ResearchQuery
from app.domain.reading import Reading
from workflows.agents.extractive.kinds import is_topic
from workflows.agents.extractive.pronouns import named_for, points_back

_SENTENCE = re.compile(r"[^.!?。？！\n]*(?:[.!](?=\S)[^.!?。？！\n]*)*[.!?。？！]*[”\"')）]*\s*")
_ABBREVIATION = re.compile(r"(?:^|[\s(.])(?:[A-Z]|[Mm]r|[Mm]rs|Dr|St|vs|[Nn]o|U\.S)\.\s*$")
_ASKED = r"(?=(?:how|why|what|when|where|who|which|whether|if)\b)"
_WRITE = r"(?:write|prepare|draft|produce|create|compile|give|provide|make|do)"
_WRITING = (
    r"(?:report|overview|summary|essay|paper|briefing|brief|account|analysis|review|survey|study|research"
    r"|presentation|list|information)"
)
_WORK = (
    r"(?:summari[sz]e|describe|discuss|outline|analy[sz]e|examine|investigate|research|explore|review|evaluate|assess|survey"
    r"|document|identify|list|trace|study|explain|find out|find|look into|look up)"
)
"""What is to be done, in an order without a question: what is to be written about follows."""
_POLITE = re.compile(
    "|".join(
        (
            r"^\W*(?:hi|hello|hey|thanks|thank you|please|kindly)\b[,!:]?\s*",
            r"^\W*(?:so|and|now|ok|okay|well|also),\s*",
            r"^\W*(?:could|can|would|will) you (?:(?:please|kindly|possibly|also) )?(?:tell|explain|show|help|give|describe|find)"
            rf"(?: to| me| us| out| understand| know)*[:,]?\s+(?:about\s+|{_ASKED})",
            r"^\W*(?:i|we)(?:['’]d|['’]m| would| am| was| want| need)(?: (?:really|very|like|love|want|need|trying|curious"
            rf"|interested|wondering|to|know|learn|understand|ask|find out|see|about))*:?\s+{_ASKED}",
            r"^\W*(?:i|we)(?:['’]d like| would like| need| want)(?: to (?:read|have|get))? an? (?:\w+ )?"
            r"(?:report|paper|essay|summary|overview|briefing) (?:on|about|of)\s+",
            r"^\W*(?:tell|show) (?:me|us)(?: about)?\s+",
            rf"^\W*{_WRITE}(?: (?:me|us))? (?:an?|the|your)? ?(?:[\w-]+ ){{0,3}}?{_WRITING}"
            r" (?:on|about|of|over|regarding|covering)\s+",
            rf"^\W*{_WRITE}(?: (?:me|us))? (?=(?:an?|the) (?:[\w-]+ ){{0,2}}?(?:history|timeline|chronology|comparison)\b)",
            r"^\W*(?:write|report|read up) (?:on|about)\s+",
            rf"^\W*{_WORK}\s+(?!(?:of|on|in|by|for|and|or|is|are|was|were)\b)(?=\w)",
            rf"^\W*(?:my question is(?: this)?:?|do you know|explain(?: to (?:me|us))?)\s+{_ASKED}",
            "^\\W*(?:请问|请(?:告诉|说明|解释|介绍)(?:一下|我|我们)*|我(?:们)?想(?:知道|了解))[，,]?",
        )
    ),
    re.IGNORECASE,
)
"""How people turn to whom they ask, before the question itself."""
_ROLE = re.compile(r"^\W*what (?:role|part) (?:did|do|does|has|have) (.+?) play(?:ed)?\b(.*?)[?？]?\s*$", re.IGNORECASE)
_FIRST_PERSON = re.compile(
    r"(?<!War )\bI(?:['’]\w+)?\s+(?=[a-z])|\b(?:[Mm]y|me|mine|myself|[Ww]e|[Oo]urs?|us)\b|[我咱]", re.ASCII
)
_OF_HELP = re.compile(r"^\W*(?:can|could|would|will|do) you\b", re.IGNORECASE)
_ORDER = re.compile(
    r"^\W*(?:please\b[ ,]*)?(?:be|keep|use (?!of\b)|write|cite|answer|include|provide|make|thanks|thank|hi|hello|dear)\b"
    r"|^\W*谢谢",
    re.IGNORECASE,
)
"""Says how to answer, or greets."""


def asked_of(query: ResearchQuery, readings: Sequence[Reading] = ()) -> str:
    """What a query asks, without what stands around its question, and with what the reader answered when asked back.

    `readings` tells how words of it are read that were written otherwise.
    """
    text = "\n".join((asking(query.question), *(clarified.answer for clarified in query.clarified)))
    return read_as(text, readings)


def read_as(text: str, readings: Sequence[Reading]) -> str:
    """A text with its words as they are read; it begins with a capital as before."""
    for reading in readings:
        edge = r"\b" if reading.written.isascii() else ""  # Chinese has no blanks between its words
        text = re.sub(rf"{edge}{re.escape(reading.written)}{edge}", reading.read, text, flags=re.IGNORECASE)
    return text[:1].upper() + text[1:] if readings else text


def asking(text: str) -> str:
    """A text without greetings, polite turns, orders how to answer, and what the asker says of himself.

    The whole text where nothing else is in it, or where what asks points back to what was said before and does not name it.
    """
    said = [_plain(sentence) for sentence in _sentences(text)]
    kept = [place for place, sentence in enumerate(said) if not _is_aside(sentence)]
    if not kept:
        return text
    before = " ".join(said[: kept[0]])
    said[kept[0]] = named_for(said[kept[0]], before) if before else said[kept[0]]
    return text if before and points_back(said[kept[0]]) else " ".join(said[place] for place in kept)


def _is_aside(sentence: str) -> bool:
    """Whether a sentence is about the asker, or about the answer's form."""
    if sentence.endswith(("?", "？")):
        return _OF_HELP.match(sentence) is not None
    return _FIRST_PERSON.search(sentence) is not None or _ORDER.match(sentence) is not None


def _sentences(text: str) -> list[str]:
    """Whole sentences, roughly: an abbreviation ends none."""
    found: list[str] = []
    for piece in _SENTENCE.findall(text):
        if not piece.strip():
            continue
        if found and _ABBREVIATION.search(found[-1]):
            found[-1] += piece
        else:
            found.append(piece)
    return [sentence.strip() for sentence in found]


def _plain(sentence: str) -> str:
    """A sentence without its polite beginning or its order; a capital where a question now begins, a topic as it was written."""
    rest = _ROLE.sub(r"the role of \1\2", sentence.strip())
    while (polite := _POLITE.match(rest)) and polite.end() < len(rest):
        rest = rest[polite.end() :].strip()
    return rest if rest == sentence.strip() or is_topic(rest) else f"{rest[:1].upper()}{rest[1:]}"
