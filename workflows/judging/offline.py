"""The built-in judge: the offline grader, with a line that says what is wrong."""

from app.domain.claims import Support
from app.domain.query import Language
from workflows.checks.grading import Grade, shipped
from workflows.checks.nearness import Vectors
from workflows.checks.reading import read
from workflows.judging.draft import Draft
from workflows.judging.remarks import remark
from workflows.judging.verbatim import VERBATIM, is_verbatim

OFFLINE = "offline"
WITH_VECTORS = "offline+vectors"


def judge_offline(draft: Draft, language: Language) -> Draft:
    """Judge a claim from words alone."""
    if not draft.quotes:
        return draft
    if is_verbatim(draft.sentence.text, draft.quotes):
        return draft.judged(Support.FULL, VERBATIM)
    grade = shipped().grade(draft.sentence.text, draft.evidence)
    return draft.judged(grade.support, OFFLINE, reason_of(draft, grade, language))


def judge_with_vectors(draft: Draft, vectors: Vectors, language: Language) -> Draft:
    """Judge a claim again with an encoder's vectors."""
    if draft.sentence.text not in vectors:
        return draft
    grade = shipped().grade(draft.sentence.text, draft.evidence, vectors)
    return draft.judged(grade.support, WITH_VECTORS, reason_of(draft, grade, language))


def reason_of(draft: Draft, grade: Grade, language: Language) -> str:
    """Return what a reader should check; empty for a claim that holds."""
    if grade.support is Support.FULL:
        return ""
    if grade.support is Support.CONTRADICTED:
        return remark("points_elsewhere", language)
    missing = missing_numbers(draft)
    if missing:
        return remark("number_missing", language, numbers=", ".join(missing))
    return remark("says_little" if grade.support is Support.NONE else "says_part", language)


def missing_numbers(draft: Draft) -> list[str]:
    """Return the numbers of a claim that its evidence does not have."""
    met = {number.value for text in (draft.evidence.title, *draft.evidence.sentences) for number in read(text).numbers}
    missing = [number for number in read(draft.sentence.text).numbers if number.value not in met]
    return list(dict.fromkeys(f"{number.value:g}{number.unit}" for number in missing))
