"""The row of a preference pair."""

from collections.abc import Mapping, Sequence
from enum import StrEnum

from app.domain.query import Language
from app.domain.value import Value
from training.synthesis.recorded_reports import RecordedReport, ReportOrigin
from training.synthesis.training_set.outcome import KeptRow
from workflows.checks.answer_faults import count_words

NO_TOPIC = "other"
NO_COUNTS: Mapping[str, float] = {}
DIFFERENCE, SHOWN_LEFT = "words that the accepted report has more", "the accepted report stood left"


class PairJudge(StrEnum):
    """Who preferred: readers of the product, reviewers of this set, a model in both orders, or a planted rule."""

    READERS = "readers"
    REVIEWERS = "reviewers"
    MODEL = "model"
    PLANTED = "planted"


class PairedReport(Value):
    """A report of a pair. `score` is the verifier's, from 1 to 10; 0: it was not asked."""

    text: str
    digest: str
    lineage: ReportOrigin
    score: int = 0


class DroppedReport(Value):
    """A report of the same question that fell out before the pair was chosen."""

    run: str
    flaw: str
    shown: str = ""


class PreferenceRow(Value):
    """The triple (the row's `query`, accepted, rejected).

    `judge` names the model, the rule or the pseudonyms' origin. `agreement` is the share of all votes for the accepted report.
    `pairs` are the ids of the exported preferences that it rests on, so that it can be dropped with them. `parts` are the titles
    of the plan, which a served rubric generator is told; empty where no plan is known.
    """

    accepted: PairedReport
    rejected: PairedReport
    judged_by: PairJudge
    judge: str
    agreement: float
    votes: int
    pairs: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    dropped: tuple[DroppedReport, ...] = ()


def pair_report(report: RecordedReport, score: int = 0) -> PairedReport:
    """Return a recorded report as one of a pair."""
    return PairedReport(text=report.answer.text, digest=report.digest, lineage=report.origin, score=score)


def keep_pair(
    row: PreferenceRow,
    question: str,
    topic: str,
    language: Language,
    documents: Sequence[str],
    counts: Mapping[str, float] = NO_COUNTS,
) -> KeptRow:
    """Return the pair as a row of the set."""
    words = {side: count_words(report.text) for side, report in (("accepted", row.accepted), ("rejected", row.rejected))}
    own = {f"words of the {side} report": float(count) for side, count in words.items()}
    return KeptRow(
        query=question,
        topic=topic or NO_TOPIC,
        language=language,
        documents=tuple(documents),
        data=row.model_dump(mode="json"),
        counts=own | {DIFFERENCE: float(words["accepted"] - words["rejected"]), **counts},
    )
