"""Finding what misleads though no judge called it false: a name or a number that nothing cited in its paragraph carries.

A sentence that opens, links or closes, or that speaks of the report or its evidence, states nothing that could mislead, and one
that a judge found supported, or that is in its source's own words, has what it says. A citation that was removed is told of too,
and a sentence without one that a model, which saw all that is cited, found nowhere.
"""

from collections.abc import Iterable, Sequence
from functools import cached_property

from app.domain.claims import Support
from app.domain.query import Language
from app.domain.script import has_ideographs
from app.settings import ClaimGrader
from retrieval.language.english import is_in_other_language
from workflows.checks.factless import states_nothing
from workflows.checks.reading import ReadSentence, read_sentence
from workflows.judging.carried_numbers import CarriedNumbers
from workflows.judging.claim_draft import ClaimDraft
from workflows.judging.introductions import describe_sources
from workflows.judging.remarks import word_remark
from workflows.judging.verbatim import VERBATIM

MOST = 0.5
"""The share of a Chinese sentence's words that has to stand in what its paragraph cites."""


def find_gaps(drafts: Sequence[ClaimDraft], language: Language, known: str = "") -> list[str]:
    """Return why nothing that is cited gives a claim; empty if something does, or if it is marked as failing anyway.

    `known` are words that the reader knows without a source, such as the question's.
    """
    paragraphs: dict[tuple[int, int], list[ClaimDraft]] = {}
    for draft in drafts:
        paragraphs.setdefault((draft.section, draft.sentence.paragraph), []).append(draft)
    carried = {place: _Carried([*_list_texts(own), known]) for place, own in paragraphs.items()}
    return [_find_gap(draft, carried[draft.section, draft.sentence.paragraph], language) for draft in drafts]


class _Carried:
    """What a paragraph's sources carry."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.texts = texts
        self.numbers = CarriedNumbers(texts)

    @cached_property
    def whole(self) -> str:
        """All the texts as one, in lower case."""
        return "\n".join(self.texts).lower()


def list_missing_numbers(draft: ClaimDraft) -> list[str]:
    """Return the exact numbers of a claim that neither its evidence has nor what the sources say of themselves."""
    return CarriedNumbers(_list_texts([draft])).list_missing(draft.sentence.text)


def _find_gap(draft: ClaimDraft, carried: _Carried, language: Language) -> str:
    if draft.remark or draft.judge == VERBATIM or draft.support in (Support.NONE, Support.CONTRADICTED):
        return ""
    if draft.sentence.keys and not draft.quotes:
        return word_remark("citation_removed", language)
    if draft.support is Support.UNCITED and draft.judge == ClaimGrader.MODEL:
        return draft.reason
    said = read_sentence(draft.sentence.text)
    if (draft.support is Support.FULL and draft.judge == ClaimGrader.MODEL) or states_nothing(said):
        return ""
    if missing := carried.numbers.list_missing(said.text):
        return word_remark("number_missing" if draft.quotes else "nothing_cited", language, words=", ".join(missing))
    unheard = not draft.cited and not draft.support.holds and _is_unheard(said, carried)
    return word_remark("nothing_cited", language) if unheard else ""


def _is_unheard(said: ReadSentence, carried: _Carried) -> bool:
    """Say whether a sentence has a name that no text has; in a text of another language it may be written otherwise.

    Chinese does not show what a name is: most of a sentence's words have to be there.
    """
    if has_ideographs(said.text):
        own, there = said.stem_set, frozenset(stem for text in carried.texts for stem in read_sentence(text).stem_set)
        return len(own & there) < MOST * len(own)
    return not all(name in carried.whole for name in said.names) and not is_in_other_language(said.text, carried.texts)


def _list_texts(drafts: Iterable[ClaimDraft]) -> list[str]:
    """Return the evidence, what stands around it, and what its sources say of themselves."""
    texts = (
        text
        for draft in drafts
        for text in (
            describe_sources(draft.quotes),
            draft.evidence.title,
            *draft.evidence.sentences,
            *(passage.text for passage in draft.shown),
        )
    )
    return list(dict.fromkeys(text for text in texts if text))
