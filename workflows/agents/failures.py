"""What the model did not do, and why: for the model with advice, for a reader in plain words."""

from app.domain.budget import StopReason
from app.domain.errors import AnswerInvalid, ModelError
from app.domain.query import Language
from workflows.agents.ports import BudgetSpent
from workflows.agents.wording import ADVICE, fill_wording, say


def refuse_answer(what: str, language: Language, /, **values: object) -> AnswerInvalid:
    """Return the refusal of an answer: the reason, and for the model also what to do about it."""
    reason = say(what, language, **values)
    return AnswerInvalid(reason + fill_wording(ADVICE, what, language, values), reason)


def describe_failure(error: ModelError | BudgetSpent, language: Language) -> str:
    """Return for a reader why the model did not do a step."""
    if isinstance(error, BudgetSpent):
        return describe_stop(error.reason, language)
    if isinstance(error, AnswerInvalid):
        return error.told or say("form_missing", language)
    return str(error)


def describe_stop(stop: StopReason, language: Language) -> str:
    """Return for a reader why a search has no answer of the model, where nothing else says why."""
    if stop is StopReason.DROPPED:
        return say("was_dropped", language)
    return say("budget_reached" if stop is StopReason.BUDGET else "gave_none", language)
