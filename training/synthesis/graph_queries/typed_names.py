"""Names of persons, places and organisations, told by their form: good enough to exchange one for another of its kind."""

import re
from typing import NamedTuple

from app.domain.query import Language
from retrieval.language.word_lists import read_lists

PERSON, PLACE, ORGANISATION = "person", "place", "organisation"
_LISTS = read_lists("name_kinds.toml", "training.synthesis.graph_queries")
ORGANISATION_ENDINGS, GIVEN_NAMES = frozenset(_LISTS["organisation_endings"]), frozenset(_LISTS["given_names"])
_RUN = re.compile(r"(?<!^)(?<![.!?] )\b[A-Z][a-zé'’-]+(?: (?:of |the |de |von )?[A-Z][a-zé'’-]+)*\b")
_PLACE_BEFORE = re.compile(r"\b(?:in|at|near|from|to|through|outside) (?:the )?$")
_MONTHS = re.compile(
    r"January|February|March|April|May|June|July|August|September|October|November|December|(?:The|It|He|She|They|This|In|I)\b"
)
_FOREIGN = re.compile(r"[\u4e00-\u9fff]{2,5}·[\u4e00-\u9fff]{2,6}")
_PERSON_ZH = re.compile(
    rf"(?:(?<=^)|(?<=[，。、由与和]))[{_LISTS['surnames_zh'][0]}][\u4e00-\u9fff]{{1,2}}(?=[（，、是在于为]|出生|担任|毕业|饰|所)"
)
_PLACE_ZH = re.compile(r"(?<=[在于至到往])[\u4e00-\u9fff]{1,3}[省市县国区州岛镇](?![\u4e00-\u9fff]?[长家])")
_ORGANISATION_ZH = re.compile(
    r"(?<=[在于由是与和为，。、])[\u4e00-\u9fff]{2,6}(?:大学|公司|学院|委员会|研究所|协会|银行|中学|医院|电视台|集团|博物馆|联盟|俱乐部|出版社)"
)


class FoundName(NamedTuple):
    """A name at `[start, end)` of a sentence."""

    kind: str
    text: str
    start: int
    end: int


def find_typed_names(sentence: str, language: Language) -> list[FoundName]:
    """Return the names of a sentence whose kind can be told, in order."""
    found = _find_chinese(sentence) if language is Language.CHINESE else _find_english(sentence)
    return sorted(found, key=lambda name: name.start)


def _find_english(sentence: str) -> list[FoundName]:
    names: list[FoundName] = []
    for run in _RUN.finditer(sentence):
        words = run.group().split()
        if _MONTHS.match(run.group()):
            continue
        if words[-1] in ORGANISATION_ENDINGS:
            names.append(FoundName(ORGANISATION, run.group(), *run.span()))
        elif words[0] in GIVEN_NAMES and 2 <= len(words) <= 3:
            names.append(FoundName(PERSON, run.group(), *run.span()))
        elif _PLACE_BEFORE.search(sentence[: run.start()]) and len(words) <= 2:
            names.append(FoundName(PLACE, run.group(), *run.span()))
    return names


def _find_chinese(sentence: str) -> list[FoundName]:
    kinds = ((PERSON, _FOREIGN), (PERSON, _PERSON_ZH), (PLACE, _PLACE_ZH), (ORGANISATION, _ORGANISATION_ZH))
    return [FoundName(kind, run.group(), *run.span()) for kind, form in kinds for run in form.finditer(sentence)]
