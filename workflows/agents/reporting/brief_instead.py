"""The brief that takes the place of a report which the model wrote little or nothing of.

A model that cannot write searches badly too. So the question itself is searched, and what the model's searches quoted stands
beside that only if it serves the question as well. Answers of the model that cite their quotes follow.
"""

from collections.abc import Iterable

from app.domain.budget import StopReason
from app.domain.citations import MARKER
from app.domain.evidence import Finding
from app.domain.plan import Subtask
from app.domain.query import Language
from app.domain.report import Report
from workflows.agents.brief import find_units, write_brief
from workflows.agents.reporting.assembly import list_ends, list_parts_without_model
from workflows.agents.reporting.desk import ReportDesk
from workflows.agents.simple_plan import shorten_title
from workflows.agents.stage_memory import REPORTER
from workflows.agents.wording import say

OWN = "question"
SOME_WRITTEN, NONE_WRITTEN = "brief_instead", "nothing_written"
CUT = "\n"


async def write_brief_instead(desk: ReportDesk, reasons: Iterable[str]) -> Report:
    """Write a brief of all evidence, which says before all else why it stands there, and how its parts ended."""
    own = Subtask(id=OWN, title=shorten_title(desk.query.question), question=desk.query.question)
    plan = desk.plan.model_copy(update={"subtasks": (own, *desk.plan.subtasks)})
    answered = [finding for finding in desk.findings if _is_answered(finding)]
    others = [quote.to_passage() for finding in desk.findings if finding not in answered for quote in finding.quotes]
    units = await find_units(own.question, others, f"{REPORTER}/quotes", desk.kit)
    quotes, forms = tuple(unit.to_quote() for unit in units), tuple(unit.form for unit in units)
    best = Finding(subtask_id=OWN, quotes=quotes, forms=forms, stop=StopReason.SUFFICIENT)
    brief = await write_brief(desk.query, plan, (best, *answered), desk.kit)
    why = say("between_sides", desk.kit.language).join(dict.fromkeys(reasons))
    told = [say(SOME_WRITTEN if answered else NONE_WRITTEN, desk.kit.language, detail=why)]
    told += list_parts_without_model(desk)
    return brief.model_copy(update={"title": desk.default_title, "notices": (*told, *list_ends(desk, told))})


def is_brief_instead(report: Report, language: Language) -> bool:
    """Say whether a report is such a brief, by its first notice. No model may revise it: that would make the notice untrue."""
    openings = tuple(say(told, language, detail=CUT).partition(CUT)[0] for told in (SOME_WRITTEN, NONE_WRITTEN))
    return bool(report.notices) and report.notices[0].startswith(openings)


def _is_answered(finding: Finding) -> bool:
    """Say whether a model answered with a citation."""
    return finding.usage.model_calls > 0 and MARKER.search(finding.answer) is not None
