"""The built-in judge: the offline grader, with a line that says what is wrong."""

from app.domain.claims import Support
from app.domain.query import Language
from workflows.checks.grading import ClaimGrade, load_grader
from workflows.checks.nearness import TextVectors
from workflows.checks.reading import read_sentence
from workflows.judging.claim_draft import ClaimDraft
from workflows.judging.remarks import word_remark
from workflows.judging.verbatim import VERBATIM, is_verbatim

OFFLINE = "offline"
WITH_VECTORS = "offline+vectors"


def judge_offline(draft: ClaimDraft, language: Language) -> ClaimDraft:
    """Judge a claim from words alone."""
    if not draft.quotes:
        return draft
    if is_verbatim(draft.sentence.text, draft.quotes):
        return draft.with_verdict(Support.FULL, VERBATIM)
    grade = load_grader().grade(draft.sentence.text, draft.evidence)
    return draft.with_verdict(grade.support, OFFLINE, reason_of(draft, grade, language))


def judge_with_vectors(draft: ClaimDraft, vectors: TextVectors, language: Language) -> ClaimDraft:
    """Judge a claim again with an encoder's vectors."""
    if draft.sentence.text not in vectors:
        return draft
    grade = load_grader().grade(draft.sentence.text, draft.evidence, vectors)
    return draft.with_verdict(grade.support, WITH_VECTORS, reason_of(draft, grade, language))


def reason_of(draft: ClaimDraft, grade: ClaimGrade, language: Language) -> str:
    """Return what a reader should check; empty for a claim that holds."""
    if grade.support is Support.FULL:
        return ""
    if grade.support is Support.CONTRADICTED:
        return word_remark("points_elsewhere", language)
    missing = find_missing_numbers(draft)
    if missing:
        return word_remark("number_missing", language, numbers=", ".join(missing))
    return word_remark("says_little" if grade.support is Support.NONE else "says_part", language)


def find_missing_numbers(draft: ClaimDraft) -> list[str]:
    """Return the numbers of a claim that its evidence does not have."""
    met = {number.value for text in (draft.evidence.title, *draft.evidence.sentences) for number in read_sentence(text).numbers}
    missing = [number for number in read_sentence(draft.sentence.text).numbers if number.value not in met]
    return list(dict.fromkeys(f"{number.value:g}{number.unit}" for number in missing))
