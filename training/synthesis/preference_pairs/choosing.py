"""From a question's reports to a pair: a judge, people or a planted rule prefer one of two (QSR section 3.2)."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

from app.domain.missing import Missing
from app.preferences.nouns.feedback import ShownSide
from training.synthesis.preference_pairs.planted import load_rule
from training.synthesis.preference_pairs.report_rules import find_flaw
from training.synthesis.preference_pairs.reviews import PairReview, ReviewFolder, lay_out
from training.synthesis.preference_pairs.rows import (
    SHOWN_LEFT,
    DroppedReport,
    PairJudge,
    PreferenceRow,
    keep_pair,
    pair_report,
)
from training.synthesis.preference_pairs.verifying import VerifiedReport, verify_reports
from training.synthesis.recorded_reports import QuestionReports, RecordedReport
from training.synthesis.training_set.outcome import KeptRow, RefusedCandidate
from workflows.agents.kit import Kit
from workflows.judging.pairwise_judge import BothOrders, Preference, choose_in_both_orders

RULES, VERIFIER, JUDGE, REVIEW, PLANTED = "rules", "verifier", "judge", "review", "planted"
CHOSEN, DROPPED = "chosen", "dropped"
A_PAIR = 2


@dataclass(frozen=True, slots=True)
class AnsweredQuestion:
    """A candidate: a question with the reports of several runs, and what people said of its pair so far."""

    asked: QuestionReports
    reviews: tuple[PairReview, ...] = ()

    @property
    def pair(self) -> str:
        """The id of its pair: a hash of the question and all reports."""
        said = [self.asked.question, *(f"{r.origin.model_dump_json()} {r.digest}" for r in self.asked.reports)]
        return hashlib.sha256("\n".join(said).encode()).hexdigest()[:16]

    @property
    def id(self) -> str:
        """The pair's id; with other reviews it is another candidate."""
        said = "\n".join(review.model_dump_json() for review in self.reviews)
        return f"{self.pair}-{hashlib.sha256(said.encode()).hexdigest()[:8]}" if said else self.pair


@dataclass(frozen=True, slots=True)
class Course:
    """The work on one question so far: what fell out, and a way to write the end down."""

    question: AnsweredQuestion
    dropped: tuple[DroppedReport, ...]

    def refuse(self, stage: str, reason: str, **data: object) -> RefusedCandidate:
        """Return the refusal, with what fell out before."""
        shown = [each.model_dump(mode="json") for each in self.dropped]
        return RefusedCandidate(stage=stage, reason=reason, data={"query": self.question.asked.question, DROPPED: shown, **data})

    def keep(self, row: PreferenceRow, pair: Sequence[RecordedReport], counts: dict[str, float]) -> KeptRow:
        """Return the row, with what fell out before."""
        asked = self.question.asked
        documents = sorted({address for report in pair for address in report.documents})
        row = row.model_copy(update={"dropped": self.dropped})
        return keep_pair(row, asked.question, asked.domain, asked.language, documents, counts)


def sift_reports(question: AnsweredQuestion) -> tuple[Course, list[RecordedReport]]:
    """Return the reports that pass the rules, each text once, and the course with those that do not."""
    distinct = list({report.digest: report for report in reversed(question.asked.reports)}.values())[::-1]
    flaws = [(report, find_flaw(report)) for report in distinct]
    return Course(question, tuple(flaw for _, flaw in flaws if flaw)), [report for report, flaw in flaws if flaw is None]


def plant_preference(course: Course, reports: Sequence[RecordedReport], rule: str) -> KeptRow | RefusedCandidate:
    """Pair the reports that differ most in the rule's property; no model is asked."""
    measure = load_rule(rule)
    ranked = sorted(reports, key=lambda report: (measure(report.answer.text), report.digest))
    if len(ranked) < A_PAIR:
        return course.refuse(RULES, "fewer than two different reports stand")
    rejected, accepted = ranked[0], ranked[-1]
    if measure(accepted.answer.text) == measure(rejected.answer.text):
        return course.refuse(PLANTED, f"no two reports differ by the rule {rule!r}")
    row = PreferenceRow(
        accepted=pair_report(accepted),
        rejected=pair_report(rejected),
        judged_by=PairJudge.PLANTED,
        judge=rule,
        agreement=1.0,
        votes=0,
    )
    return course.keep(row, (accepted, rejected), {})


async def choose_best_two(
    kit: Kit, course: Course, reports: Sequence[RecordedReport]
) -> tuple[Course, list[VerifiedReport]] | RefusedCandidate:
    """Return the two reports that a verifier scores highest, or why there are not two."""
    if len(reports) < A_PAIR:
        return course.refuse(RULES, "fewer than two different reports stand")
    found = await verify_reports(kit, course.question.asked.question, reports)
    if isinstance(found, Missing):
        return course.refuse(VERIFIER, found.reason)
    standing, dropped = found
    course = replace(course, dropped=(*course.dropped, *dropped))
    if len(standing) < A_PAIR:
        return course.refuse(VERIFIER, "fewer than two reports stand")
    return course, standing[:A_PAIR]


async def judge_two(kit: Kit, course: Course, two: Sequence[VerifiedReport]) -> KeptRow | RefusedCandidate:
    """Have a model prefer one, asked in both orders. A choice that changes with the order is no preference."""
    first, second = _order_blindly(two)
    texts = (first.report.answer.text, second.report.answer.text)
    chosen = await choose_in_both_orders(kit, course.question.asked.question, *texts)
    if isinstance(chosen, Missing):
        return course.refuse(JUDGE, chosen.reason)
    if chosen.preference is Preference.TIE:
        return course.refuse(JUDGE, "the choice changes with the order", **{CHOSEN: chosen.straight})
    accepted, rejected = (first, second) if chosen.preference is Preference.FIRST else (second, first)
    row = _make_row(accepted, rejected, PairJudge.MODEL, kit.chat.name, 1.0, len(BothOrders._fields))
    return course.keep(row, (accepted.report, rejected.report), {})


def review_two(course: Course, two: Sequence[VerifiedReport], folder: ReviewFolder, needed: int) -> KeptRow | RefusedCandidate:
    """Offer the pair to people; with enough reviews, more than half of which agree, it is a row."""
    asked, reviews = course.question.asked, course.question.reviews
    pair = lay_out(course.question.pair, asked.question, *(each.report.answer.text for each in two))
    folder.offer(pair)
    if len(reviews) < needed:
        return course.refuse(REVIEW, f"it waits for {needed - len(reviews)} more reviews")
    sides = [review.choice.verdict.side for review in reviews]
    chosen = max(ShownSide, key=sides.count)
    agreement = sides.count(chosen) / len(sides)
    if 2 * agreement <= 1:
        return course.refuse(REVIEW, "no majority among its reviewers", agreement=agreement)
    text = pair.left if chosen is ShownSide.LEFT else pair.right
    accepted, rejected = two if two[0].report.answer.text == text else (two[1], two[0])
    judges = ", ".join(review.reviewer for review in reviews)
    row = _make_row(accepted, rejected, PairJudge.REVIEWERS, judges, agreement, len(reviews))
    return course.keep(row, (accepted.report, rejected.report), {SHOWN_LEFT: float(chosen is ShownSide.LEFT)})


def _order_blindly(two: Sequence[VerifiedReport]) -> tuple[VerifiedReport, VerifiedReport]:
    """Order two reports by their texts, so that the place does not tell the verifier's score."""
    first, second = sorted(two, key=lambda each: each.report.digest)
    return first, second


def _make_row(
    accepted: VerifiedReport, rejected: VerifiedReport, judged: PairJudge, judge: str, agreement: float, votes: int
) -> PreferenceRow:
    return PreferenceRow(
        accepted=pair_report(accepted.report, accepted.score),
        rejected=pair_report(rejected.report, rejected.score),
        judged_by=judged,
        judge=judge,
        agreement=agreement,
        votes=votes,
    )
