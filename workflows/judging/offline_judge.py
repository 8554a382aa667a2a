"""The built-in judge: the offline grader, with a line that says what is wrong."""

from app.domain.claims import Support
from app.domain.query import Language
from retrieval.language.english import is_in_other_language
from workflows.checks.grading import ClaimGrade
from workflows.checks.nearness import TextVectors
from workflows.judging.claim_draft import ClaimDraft
from workflows.judging.claim_grading import grade_claim
from workflows.judging.remarks import word_remark
from workflows.judging.unsourced import list_missing_numbers
from workflows.judging.verbatim import VERBATIM, is_verbatim

OFFLINE = "offline"
WITH_VECTORS = "offline+vectors"


def judge_verbatim(draft: ClaimDraft) -> ClaimDraft:
    """Judge a claim if it is in its source's own words."""
    said = draft.quotes and is_verbatim(draft.sentence.text, draft.quotes)
    return draft.with_verdict(Support.FULL, VERBATIM) if said else draft


def judge_offline(draft: ClaimDraft, language: Language) -> ClaimDraft:
    """Judge a claim without vectors: by rules, and by a learned judge where there is one.

    One in another language than its evidence is supported in part, unless it is in its source's own words.
    """
    draft = judge_verbatim(draft)
    if not draft.quotes or draft.judge == VERBATIM:
        return draft
    if is_in_other_language(draft.sentence.statement, draft.evidence.sentences):
        return draft.with_verdict(Support.PARTIAL, OFFLINE, _doubt_translation(draft, language))
    grade = _grade(draft)
    return draft.with_verdict(grade.support, OFFLINE, reason_of(grade, language))


def judge_with_vectors(draft: ClaimDraft, vectors: TextVectors, language: Language) -> ClaimDraft:
    """Judge a claim again with an encoder's vectors."""
    if draft.sentence.statement not in vectors:
        return draft
    grade = _grade(draft, vectors)
    return draft.with_verdict(grade.support, WITH_VECTORS, reason_of(grade, language))


def _grade(draft: ClaimDraft, vectors: TextVectors | None = None) -> ClaimGrade:
    """Grade a claim. A bare figure that its evidence has is supported at least in part: no words of it are missing."""
    grade = grade_claim(draft.sentence.statement, draft.evidence, vectors)
    if draft.sentence.is_figure and not grade.support.holds and not list_missing_numbers(draft):
        return grade._replace(support=Support.PARTIAL)
    return grade


def _doubt_translation(draft: ClaimDraft, language: Language) -> str:
    """Return what a reader should check. Of two languages only numbers can be compared: a true translation shares no words."""
    if missing := list_missing_numbers(draft):
        return word_remark("number_missing", language, words=", ".join(missing))
    return word_remark("other_language", language)


def reason_of(grade: ClaimGrade, language: Language) -> str:
    """Return what a reader should check; empty for a claim that holds."""
    if grade.support is Support.FULL:
        return ""
    if grade.support is Support.CONTRADICTED:
        return word_remark("points_elsewhere", language)
    if grade.veto:
        return word_remark(grade.veto.reason.value, language, words=grade.veto.words)
    return word_remark("doubted", language)
