"""Finding facts that nothing cited gives: sentences without a citation or with a removed one, and numbers that no quote has.

A number that is missing is missing whatever a judge said of its sentence.

A fact is checkable: it has an exact number, or names somebody or something. A question states none; nor do a sentence about the
evidence itself and the opening of a list, unless they have a number.
"""

import re

from app.domain.claims import Support
from app.domain.query import Language
from retrieval.language.numbers import Number
from workflows.checks.reading import ReadSentence, read_sentence
from workflows.judging.claim_draft import ClaimDraft
from workflows.judging.remarks import word_remark
from workflows.judging.verbatim import VERBATIM

SMALL = 12.0
"""Up to this value a whole number in a sentence may count its own parts ("two accounts")."""
_ABOUT_EVIDENCE = re.compile(
    r"\b(?:evidence|sources?|passages?|sections?|findings|question|accounts?|summary)\b|证据|来源|资料|本节|问题", re.IGNORECASE
)
_ASKS = re.compile(r"[?？]\W*$")
_OPENS_LIST = re.compile(r"[:：]\W*$")


def find_gap(draft: ClaimDraft, language: Language) -> str:
    """Return why nothing that is cited gives a claim's fact; empty if something does, or if it is marked as failing anyway."""
    if draft.support in (Support.NONE, Support.CONTRADICTED) or draft.judge == VERBATIM:
        return ""
    if draft.sentence.keys and not draft.quotes:
        return word_remark("citation_removed", language)
    said = read_sentence(draft.sentence.text)
    if not draft.quotes:
        return word_remark("nothing_cited", language) if _states_fact(said) else ""
    if missing := _list_missing_numbers(said, draft):
        return word_remark("number_missing", language, words=", ".join(missing))
    return "" if draft.cited or draft.support.holds or _knows_names(said, draft) else word_remark("nothing_cited", language)


def _states_fact(said: ReadSentence) -> bool:
    if _ASKS.search(said.text):
        return False
    if any(map(_is_exact, said.numbers)):
        return True
    return bool(said.names) and not _OPENS_LIST.search(said.text) and not _ABOUT_EVIDENCE.search(said.text)


def _is_exact(number: Number) -> bool:
    return bool(number.unit) or number.value > SMALL or not number.value.is_integer()


def _list_missing_numbers(said: ReadSentence, draft: ClaimDraft) -> list[str]:
    texts = (draft.evidence.title, *draft.evidence.sentences)
    met = {number.value for text in texts for number in read_sentence(text).numbers}
    missing = [number for number in said.numbers if _is_exact(number) and number.value not in met]
    return list(dict.fromkeys(f"{number.value:,.10g}{number.unit}" for number in missing))


def _knows_names(said: ReadSentence, draft: ClaimDraft) -> bool:
    known = "\n".join((draft.evidence.title, *draft.evidence.sentences)).lower()
    return all(name in known for name in said.names)
