"""The preferences of readers: comparisons, ratings, flags, annotations, consent."""

from collections.abc import Sequence

from rubrica_client.models import (
    AgreementReport,
    AnswerReceipt,
    ChoiceView,
    ComparisonPage,
    ComparisonView,
    ConsentChange,
    ConsentView,
    FlagList,
    FlagView,
    NewChoice,
    NewComparison,
    NewFlag,
    NewRating,
    NewTasks,
    NextAssignment,
    RatingView,
    Reveal,
    SkipRequest,
    Summary,
    TaskPage,
    WayList,
    WriterSettings,
)
from rubrica_client.request import Request


def ways() -> Request[WayList]:
    """List the ways in which a second report can be written here."""
    return Request("GET", ("v1", "preferences", "ways"), WayList)


def summary() -> Request[Summary]:
    """Return which way of writing wins."""
    return Request("GET", ("v1", "preferences", "summary"), Summary)


def set_default(writer: WriterSettings) -> Request[WriterSettings]:
    """Set how later reports are written."""
    return Request("PUT", ("v1", "preferences", "default"), WriterSettings, body=writer)


def compare(run_id: str, writer: WriterSettings) -> Request[ComparisonView]:
    """Have a second report written over the evidence of a run. Read the comparison until it is ready."""
    return Request("POST", ("v1", "comparisons"), ComparisonView, body=NewComparison(run_id=run_id, writer=writer)).with_key()


def comparison(comparison_id: str) -> Request[ComparisonView]:
    """Return a comparison. The first call that returns two reports starts the clock."""
    return Request("GET", ("v1", "comparisons", comparison_id), ComparisonView)


def comparisons(run_id: str | None = None, limit: int | None = None, before: str | None = None) -> Request[ComparisonPage]:
    """List comparisons, newest first."""
    return Request("GET", ("v1", "comparisons"), ComparisonPage, query={"run_id": run_id, "limit": limit, "before": before})


def choose(comparison_id: str, choice: NewChoice) -> Request[ChoiceView]:
    """Choose, or change the choice."""
    return Request("POST", ("v1", "comparisons", comparison_id, "choice"), ChoiceView, body=choice)


def reveal(comparison_id: str) -> Request[Reveal]:
    """Reveal which report was which; the choice then stands."""
    return Request("POST", ("v1", "comparisons", comparison_id, "reveal"), Reveal)


def rating(run_id: str) -> Request[RatingView]:
    """Return the caller's own stars for a report."""
    return Request("GET", ("v1", "runs", run_id, "rating"), RatingView)


def rate(run_id: str, new: NewRating) -> Request[RatingView]:
    """Rate the report of a run."""
    return Request("POST", ("v1", "runs", run_id, "rating"), RatingView, body=new)


def flags(run_id: str) -> Request[FlagList]:
    """List the caller's own flags in a report."""
    return Request("GET", ("v1", "runs", run_id, "flags"), FlagList)


def flag(run_id: str, claim: int, new: NewFlag) -> Request[FlagView]:
    """Flag a claim, counted from 0, as wrong."""
    return Request("POST", ("v1", "runs", run_id, "claims", claim, "flag"), FlagView, body=new)


def unflag(run_id: str, claim: int) -> Request[None]:
    """Take a flag back."""
    return Request("DELETE", ("v1", "runs", run_id, "claims", claim, "flag"), type(None))


def consent() -> Request[ConsentView]:
    """Return whether the caller's data may be used for training."""
    return Request("GET", ("v1", "consent"), ConsentView)


def set_consent(person: bool | None = None, organisation: bool | None = None) -> Request[ConsentView]:
    """Give or take back consent; None changes nothing."""
    return Request("PUT", ("v1", "consent"), ConsentView, body=ConsentChange(person=person, organisation=organisation))


def next_assignment() -> Request[NextAssignment]:
    """Return what the caller is to judge next as an annotator."""
    return Request("GET", ("v1", "annotations", "next"), NextAssignment)


def judge(assignment_id: str, choice: NewChoice) -> Request[AnswerReceipt]:
    """Judge the assigned pair. The answer stands."""
    return Request("POST", ("v1", "annotations", assignment_id), AnswerReceipt, body=choice)


def skip(assignment_id: str, reason: str) -> Request[None]:
    """Skip the assigned pair."""
    return Request("POST", ("v1", "annotations", assignment_id, "skip"), type(None), body=SkipRequest(reason=reason))


def annotations(limit: int | None = None, before: str | None = None) -> Request[TaskPage]:
    """List the pairs that annotators judge, newest first."""
    return Request("GET", ("v1", "annotations"), TaskPage, query={"limit": limit, "before": before})


def have_judged(comparison_ids: Sequence[str], overlap: int) -> Request[None]:
    """Have comparisons judged by `overlap` annotators each."""
    return Request("POST", ("v1", "annotations"), type(None), body=NewTasks(comparison_ids=comparison_ids, overlap=overlap))


def agreement() -> Request[AgreementReport]:
    """Return how far annotators agree beyond chance."""
    return Request("GET", ("v1", "annotations", "agreement"), AgreementReport)
