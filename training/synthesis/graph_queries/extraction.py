"""What the sentences of a document say about its entity, found by rules: its kind, years, places and amounts."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from app.domain.query import Language
from retrieval.language.quantities import QuantityKind, read_quantities
from retrieval.language.tokens import list_stems
from retrieval.language.traditional import simplify
from retrieval.language.word_lists import read_lists
from training.synthesis.graph_queries.nouns import AttributeKind, Category
from training.synthesis.graph_queries.typed_names import PLACE, find_typed_names

OPENING_SENTENCES = 8
"""Places and amounts are read from the beginning of a document, where they are about its entity."""
LONGEST_KIND_ZH = 6
_TIME_UNITS = ("second", "minute", "hour", "day", "week", "month", "year")
_LISTS = read_lists("lists.toml", "training.synthesis.graph_queries")
_EMPTY, _CALENDAR = (frozenset(_LISTS.pop(name)) for name in ("empty", "calendar"))
_CATEGORIES = {word: Category(name) for name, words in _LISTS.items() for word in words}
_YEAR = re.compile(r"(?<![\d.,/-])(1\d{3}|20[0-2]\d)(?!\d|[.,]\d|s\b|['’]s\b)(?= ?年|[^\w年]|$)")
_DIGIT = re.compile(r"\d")
_IS_A = re.compile(r"\b(?:is|was|are|were) (?:an?|the|one of the) ([^.;()]+)")
_AND = re.compile(r",| and | or ")
_HEAD_ENDS = re.compile(
    r" (?:of|in|that|which|who|whose|from|for|by|on|at|to|with|located|situated|based|used|born|near|where|produced"
    r"|directed|written|between|known|made|released|published|set|founded|belonging|consisting|best)\b"
)
_IS_ZH, _AS_ZH = (re.compile(rf"[{verbs}]([^，。；（）()]{{2,60}})") for verbs in ("是", "为乃"))
_AND_ZH = re.compile("[、及和与兼]")
_MEASURE = re.compile("^(?:指|一)?(?:一?[个種种部座位条項项家所名款颗支本首集类艘只枚顆條])?")


class FoundAttribute(NamedTuple):
    """What a sentence says. See `Attribute`."""

    kind: AttributeKind
    value: str
    number: float | None = None


def find_kinds(opening: str, language: Language) -> tuple[str, ...]:
    """Return the words for what the entity is, as its first sentence says, the main one first."""
    found = _find_kinds_zh(simplify(opening)) if language is Language.CHINESE else _find_kinds_en(opening)
    return tuple(dict.fromkeys(kind for kind in found if kind not in _EMPTY | _CALENDAR))


def category_of(kind: str) -> Category:
    """Return the category of a kind's word."""
    return _CATEGORIES.get(kind, Category.OTHER)


def _find_kinds_en(opening: str) -> Iterator[str]:
    found = _IS_A.search(opening)
    said = _HEAD_ENDS.split(found.group(1))[0] if found else ""
    for piece in _AND.split(said):
        kind = piece.split()[-1].lower() if piece.split() else ""
        if kind.isalpha() and kind.isascii() and not kind.endswith(("ed", "ing", "ly")):
            yield kind


def _find_kinds_zh(opening: str) -> Iterator[str]:
    for clause in [*_IS_ZH.findall(opening), *_AS_ZH.findall(opening)]:
        for piece in _AND_ZH.split(clause.rpartition("的")[2]):
            said = _MEASURE.sub("", piece)
            listed = [said[at:] for at in range(len(said)) if said[at:] in _CATEGORIES]
            if listed or (2 <= len(said) <= LONGEST_KIND_ZH and said.isalpha()):
                yield (listed or [said])[0]


def read_sentence(sentence: str, place: int, language: Language) -> Iterator[FoundAttribute]:
    """Yield what a sentence says, but for the kind. `place` is its number in the document."""
    for year in dict.fromkeys(_YEAR.findall(sentence)):
        yield FoundAttribute(AttributeKind.YEAR, "", float(year))
    if place >= OPENING_SENTENCES:
        return
    for name in find_typed_names(sentence, language):
        if name.kind == PLACE and list_stems(name.text):
            yield FoundAttribute(AttributeKind.PLACE, simplify(name.text).lower())
    if _DIGIT.search(sentence):
        for amount in read_quantities(sentence):
            if amount.kind is QuantityKind.AMOUNT and amount.unit and amount.unit not in _TIME_UNITS:
                yield FoundAttribute(AttributeKind.NUMBER, amount.unit, amount.value)
