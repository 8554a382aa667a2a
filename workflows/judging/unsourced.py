"""Finding statements that nothing cited gives: without a citation or with a removed one, and with numbers that no quote has.

A number that is missing is missing whatever a judge said of its sentence. A sentence before a citation leans on it if a judge
found it there, or if it says little else than the sentences up to the citation. A sentence that states nothing needs no citation.
"""

import re
from collections import Counter
from collections.abc import Sequence

from app.domain.claims import Support
from app.domain.query import Language
from retrieval.language.numbers import Number
from retrieval.language.quantities import Quantity, read_quantities
from retrieval.language.spelled_numbers import SCALES
from workflows.checks.factless import LEADING, states_nothing
from workflows.checks.reading import ReadSentence, is_exact, read_sentence
from workflows.judging.claim_draft import ClaimDraft
from workflows.judging.introductions import describe_sources
from workflows.judging.remarks import word_remark
from workflows.judging.verbatim import VERBATIM

MOST = 0.5
"""The share of a sentence's words that it has in common with those that it sums up."""
_LATIN = re.compile("[A-Za-z]")
_OPENS_WITH_SCALE = re.compile(rf"(?:{'|'.join(SCALES)})\b", re.IGNORECASE)


def find_gaps(drafts: Sequence[ClaimDraft], language: Language) -> list[str]:
    """Return why nothing that is cited gives a claim; empty if something does, or if it is marked as failing anyway."""
    return [_find_gap(draft, _list_following(drafts, place), language) for place, draft in enumerate(drafts)]


def list_missing_numbers(draft: ClaimDraft) -> list[str]:
    """Return the exact numbers of a claim that neither its evidence has nor what the sources say of themselves.

    It is the same number in digits and in words (25,000, twenty-five thousand), and in another unit (25 km, 25,000 metres).
    """
    texts, claim = _list_texts(draft), draft.sentence.text
    given = [quantity for text in texts for quantity in _list_quantities(text)]
    values = {number.value for text in texts for number in _list_numbers(text)} | {each.written for each in given if each.written}
    known = {(each.kind, each.value, each.unit) for each in given}
    said = Counter(_list_numbers(claim))
    for own in _list_quantities(claim):
        if (own.kind, own.value, own.unit) in known or (own.written and own.written in values):
            said -= Counter(_list_numbers(claim[own.start : own.end]))
    missing = [number for number in said if is_exact(number) and number.value not in values]
    return list(dict.fromkeys(f"{number.value:,.10g}{number.unit}" for number in missing))


def _list_quantities(text: str) -> list[Quantity]:
    """Return the quantities of a text, without a scale that no number stands before ("several million")."""
    return [each for each in read_quantities(text) if not _OPENS_WITH_SCALE.match(text, each.start)]


def _list_numbers(text: str) -> list[Number]:
    """Return the numbers of a text; several English words that make one number are read together."""
    spelled = [each for each in _list_quantities(text) if each.written and _LATIN.match(text, each.start)]
    for each in spelled:
        text = text[: each.start] + " " * (each.end - each.start) + text[each.end :]
    return [*read_sentence(text).numbers, *(Number(each.written, "%" if each.unit == "%" else "") for each in spelled)]


def _find_gap(draft: ClaimDraft, following: Sequence[str], language: Language) -> str:
    if draft.support in (Support.NONE, Support.CONTRADICTED) or draft.judge == VERBATIM:
        return ""
    if draft.sentence.keys and not draft.quotes:
        return word_remark("citation_removed", language)
    said = read_sentence(draft.sentence.text)
    if draft.quotes and (missing := list_missing_numbers(draft)):
        return word_remark("number_missing", language, words=", ".join(missing))
    if draft.cited or draft.support.holds or states_nothing(said):
        return ""
    return "" if draft.quotes and _sums_up(said, draft, following) else word_remark("nothing_cited", language)


def _list_following(drafts: Sequence[ClaimDraft], place: int) -> list[str]:
    """Return the sentences after one that leans on a citation, up to that which has it."""
    own, texts = drafts[place], list[str]()
    for draft in drafts[place + 1 :] if own.sentence.leans_on else ():
        texts.append(draft.sentence.text)
        if draft.section != own.section or draft.sentence.keys:
            return texts if draft.section == own.section and draft.sentence.keys == own.sentence.leans_on else []
    return []


def _list_texts(draft: ClaimDraft) -> tuple[str, ...]:
    """Return the evidence, and what its sources say of themselves."""
    return (describe_sources(draft.quotes), draft.evidence.title, *draft.evidence.sentences)


def _sums_up(said: ReadSentence, draft: ClaimDraft, following: Sequence[str]) -> bool:
    """Say whether a sentence has all its names and most of its words from its evidence and the sentences that follow it."""
    known = [read_sentence(text) for text in (*_list_texts(draft), *following)]
    whole = "\n".join(text.text for text in known).lower()
    own = frozenset(word.stem for word in said.words if word.stem and word.text not in LEADING)
    shared = own & frozenset(stem for text in known for stem in text.stem_set)
    return len(shared) >= MOST * len(own) and all(name in whole for name in said.names)
