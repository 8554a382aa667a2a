"""What each kind of exam measures, and how it is taken."""

from training.loop.exams.config import AnyExam, ReportExamConfig, RubricExamConfig
from training.loop.exams.sitting import ExamSitting
from training.loop.gates.plan import COST, PROBE, PROBES
from training.loop.gates.scores import ItemScore

_PROBES = frozenset(f"{PROBE}{name}" for name in PROBES)
_OF_RULES = frozenset({"citation_support", "report_rules", "sound_form", "sound_tense", "sound_tables", "sound_citations"})


def list_metrics(exam: AnyExam) -> frozenset[str]:
    """Return the metrics that an exam gives, of those that a gate may prove; its cost is `cost`."""
    if isinstance(exam, RubricExamConfig):
        return _PROBES | {"preference_accuracy", "readable_rubric", COST}
    if isinstance(exam, ReportExamConfig):
        return _OF_RULES | {COST} | (_PROBES | {"report_quality"} if exam.judge else frozenset())
    return frozenset({"search_accuracy", COST})


async def take_exam(exam: AnyExam, sitting: ExamSitting) -> list[ItemScore]:
    """Have both models answer every item, and score them. What an exam needs is loaded when it is taken.

    Raises:
        InvalidInput, NotFound, SetupError: its sets, rubrics or collections cannot be used.
        ModelUnavailable: a server does not answer.
    """
    if isinstance(exam, RubricExamConfig):
        from training.loop.exams.rubrics import examine_rubrics

        return await examine_rubrics(exam, sitting)
    if isinstance(exam, ReportExamConfig):
        from training.loop.exams.reports import examine_reports

        return await examine_reports(exam, sitting)
    from training.loop.exams.searches import examine_searches

    return await examine_searches(exam, sitting)
