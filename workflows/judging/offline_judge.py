"""The built-in judge: the offline grader, with a line that says what is wrong."""

from app.domain.claims import Support
from app.domain.query import Language
from retrieval.language.english import is_in_other_language
from workflows.checks.grading import ClaimGrade, grade_claim
from workflows.judging.claim_draft import ClaimDraft
from workflows.judging.remarks import word_remark
from workflows.judging.unsourced import list_missing_numbers
from workflows.judging.verbatim import VERBATIM, is_verbatim

OFFLINE = "offline"


def judge_verbatim(draft: ClaimDraft) -> ClaimDraft:
    """Judge a claim if it is in its source's own words."""
    said = draft.quotes and is_verbatim(draft.sentence.text, draft.quotes)
    return draft.with_verdict(Support.FULL, VERBATIM) if said else draft


def judge_offline(draft: ClaimDraft, language: Language) -> ClaimDraft:
    """Judge a claim by its words. One in another language than its evidence is judged by its numbers alone."""
    draft = judge_verbatim(draft)
    if not draft.quotes or draft.judge == VERBATIM:
        return draft
    if is_in_other_language(draft.sentence.statement, draft.evidence.sentences):
        return _judge_translation(draft, language)
    grade = _grade(draft)
    return draft.with_verdict(grade.support, OFFLINE, reason_of(grade, language))


def _grade(draft: ClaimDraft) -> ClaimGrade:
    """Grade a claim. A bare figure that its evidence has fails nothing: no words of it are missing."""
    grade = grade_claim(draft.sentence.statement, draft.evidence)
    if draft.sentence.is_figure and not grade.support.holds and not list_missing_numbers(draft):
        return grade._replace(support=Support.UNJUDGED, veto=None)
    return grade


def _judge_translation(draft: ClaimDraft, language: Language) -> ClaimDraft:
    """Judge a claim in another language than its evidence: a true translation shares no words, so only numbers are compared."""
    if missing := list_missing_numbers(draft):
        return draft.with_verdict(Support.PARTIAL, OFFLINE, word_remark("number_missing", language, words=", ".join(missing)))
    return draft.with_verdict(Support.UNJUDGED, OFFLINE, word_remark("other_language", language))


def reason_of(grade: ClaimGrade, language: Language) -> str:
    """Return what a reader should check; empty for a claim that holds."""
    if grade.support is Support.FULL:
        return ""
    if grade.support is Support.NONE:
        return word_remark("not_said", language)
    if grade.veto:
        return word_remark(grade.veto.reason.value, language, words=grade.veto.words, given=grade.veto.given)
    return word_remark("worded_anew", language)
